"""More replies to the six tasks, written when the rules had been changed for `answer_replies_tasks`.

The second lot was written when they had been changed for the first.
"""

from __future__ import annotations

from answer_replies import BOXES, CLOSER, COUNTS, IMAGES, POINTS, SIDES, YES_NO

CASES = [
    # which way the camera moves
    (
        "Looking at the flow, r is left in 71 of 100 cells. Leftward image motion = rightward camera motion.",
        SIDES,
        None,
    ),
    ("The camera moved to the left (objects move to the right in the second frame).", SIDES, "A"),
    ("Objects shifted left relative to the camera, so it moved right.", SIDES, "B"),
    ("Relative to the camera, everything goes left.", SIDES, None),
    (
        "The photographer stepped to the right, which is why the tree is now further left.",
        SIDES,
        "B",
    ),
    (
        "The cells move right. When cells move right, the camera moves left. So the answer is left.",
        SIDES,
        "A",
    ),
    (
        "If the camera moved left, objects would move right. They move left here, so the camera moved right.",
        SIDES,
        "B",
    ),
    ("Most arrows point to the left. Hence (B).", SIDES, "B"),
    ("The background moves left. The camera motion is the reverse.", SIDES, None),
    ("I think it's the opposite of left.", SIDES, None),
    ("The camera isn't moving left; it is moving right.", SIDES, "B"),
    ("光流向左，相机向右。", SIDES, "B"),
    ("镜头向左平移。", SIDES, "A"),
    ("Die Objekte bewegen sich nach links, also bewegt sich die Kamera nach rechts.", SIDES, "B"),
    ("La caméra ne va pas à gauche, mais à droite.", SIDES, "B"),
    ("Los objetos van hacia la izquierda; la cámara se mueve a la derecha.", SIDES, "B"),
    # which is nearest, which corresponds
    ("Depth r: A=0.62, B=0.35, C=0.80, D=0.11\nmax -> C", POINTS, "C"),
    ("C > A > B > D, so C.", POINTS, "C"),
    ("A < B", CLOSER, None),
    ("The correct answer is not A, not B, and not D.", POINTS, None),
    ("Anything but A.", CLOSER, None),
    ("The incorrect option would be B.", CLOSER, None),
    ("A would be wrong; B would be right.", CLOSER, "B"),
    ("不选A，选B。", CLOSER, "B"),
    ("不正确的是B。", CLOSER, None),
    ("正确答案应该是D，而不是C。", POINTS, "D"),
    ("C点与参考点最相似，因此选择C。", POINTS, "C"),
    ("Die Antwort lautet nicht C, sondern D.", POINTS, "D"),
    ("Ce n'est pas le point B mais le point C.", POINTS, "C"),
    ("Elijo la opción D porque está a 12 píxeles.", POINTS, "D"),
    ("Punto D.", POINTS, "D"),
    ("Only C lies on the same corner.", POINTS, "C"),
    (
        "REF is at (512, 300). Nearest match 0.97 -> (498, 305). A (495, 301) is 5 away. B is 90 away.\n\nA",
        POINTS,
        "A",
    ),
    (
        "The point is on the roof, and the roof in image 2 is marked by D. The answer is D. A",
        POINTS,
        "D",  # and the start of another sentence
    ),
    # which piece, which box
    ("La troisième image prolonge la route.", IMAGES, "B"),
    ("第二张图片的边缘不匹配，第三张图片匹配。", IMAGES, "B"),
    ("The second image is not the wrong one.", IMAGES, None),
    ("Both borders favour the third image (0.93 vs 0.41).", IMAGES, "B"),
    ("Neither is perfect, but Box A is closer to the detection [104, 80, 300, 411].", BOXES, "A"),
    (
        "The detector's box overlaps B with IoU 0.88 and A with IoU 0.61.\n\n**Answer: (B)**",
        BOXES,
        "B",
    ),
    # yes, no and numbers
    ("Oui.", YES_NO, "A"),
    ("Sim, está atrás.", YES_NO, "A"),
    ("Не знаю.", YES_NO, None),
    ("はい、そうです。", YES_NO, "A"),
    ("没有。", YES_NO, None),
    (">= 2", COUNTS, None),
    ("~10", COUNTS, "C"),
    ("> 2", COUNTS, None),
    # the second lot
    (
        "Flow vectors: 82 cells r=right, 18 cells r=left. Image content moving right means the camera pans left. **left**",
        SIDES,
        "A",
    ),
    (
        'Given that nearly every cell reads "right", the scene moves right, hence the camera is moving left.',
        SIDES,
        "A",
    ),
    ("The viewpoint shifts to the right between the two frames.", SIDES, "B"),
    ("I believe the camera goes right, as the sofa leaves the frame on the left.", SIDES, "B"),
    ("It moves left -> right.", SIDES, None),
    ("The video was shot moving towards the right side.", SIDES, "B"),
    ("相机是从左向右移动的。", SIDES, None),
    (
        "The highest r among the marked points is D's (0.934). Point D is therefore nearest.",
        POINTS,
        "D",
    ),
    ("Point A r=0.2; Point B r=0.9; Point C r=0.5; Point D r=0.4. Nearest: Point B.", POINTS, "B"),
    ("D (r = 0.71) beats A (0.70) by a hair.", POINTS, "D"),
    ("I can't decide between A and D, but if forced I'd say D.", POINTS, "D"),
    ("Neither B nor C; A and D are candidates. D has the smaller distance, so D.", POINTS, "D"),
    ("Not (A).", POINTS, None),
    (
        "The nearest to the transferred location (233, 410) is candidate (C) at (236, 402).",
        POINTS,
        "C",
    ),
    ("Candidate B, whose distance is only 6 px.", POINTS, "B"),
    ("选D，因为它的相似度最高。", POINTS, "D"),
    ("Der Punkt mit der höchsten Ähnlichkeit ist C (0.81).", POINTS, "C"),
    ("El candidato correcto es B, no A.", POINTS, "B"),
    ("La bonne réponse est (D), pas (B).", POINTS, "D"),
    (
        "The left border of A scores 0.91 and its top border 0.88; B scores 0.45 and 0.37. So A, the second image.",
        IMAGES,
        "A",
    ),
    ("The third image would leave a gap at the top, so it must be the other one.", IMAGES, None),
    ("Box A: IoU .45\nBox B: IoU .93\nBest: Box B", BOXES, "B"),
    ("B is looser than A, so A.", BOXES, "A"),
    ("Neither box is right, so I can't answer.", BOXES, None),
    ("The detection [12, 40, 800, 912] nearly coincides with box A.", BOXES, "A"),
    ("Ja, tut es.", YES_NO, "A"),
    ("Nee.", YES_NO, "B"),
    ("At most 1", COUNTS, None),
    ("There are 2 or more.", COUNTS, None),
]

# What a person reads and the rules do not.
UNREAD = [
    ("Der linke Rand passt: 0.91 bei B, 0.22 bei A. Also B.", IMAGES, "B"),
    ("Box B is only slightly larger than the dog, Box A misses its head.", BOXES, "B"),
    ("Kamera: links.", SIDES, "A"),
    ("最相似的是A，其次是C。", POINTS, "A"),
    ("Second image: mean 0.33. Third image: mean 0.79. Pick the third.", IMAGES, "B"),
]
