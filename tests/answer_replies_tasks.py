"""Replies to the six tasks in the manner of several models and languages.

Written before the rules were looked at again, and read once before anything was changed.
"""

from __future__ import annotations

from answer_replies import BOXES, COUNTS, IMAGES, POINTS, SIDES, YES_NO, lettered

NEAREST = lettered("Point A", "Point B", "Point C")

CASES = [
    # multi-view reasoning: which way the camera moves
    ("The objects shift to the right, so the camera is moving to the left.", SIDES, "A"),
    (
        "Since the couch appears further left in the second frame, the camera moved right.",
        SIDES,
        "B",
    ),
    (
        "Most cells read left (r: left), which means the camera itself moves right.\n\nright",
        SIDES,
        "B",
    ),
    (
        "Everything in the picture slides to the left. The camera must therefore be going right.",
        SIDES,
        "B",
    ),
    ("The camera pans left because the scene drifts right.", SIDES, "A"),
    (
        "In the second image the lamp is closer to the left edge. That implies a rightward camera motion, i.e. (B).",
        SIDES,
        "B",
    ),
    ("Camera motion is opposite to the flow: flow goes left, so camera goes right.", SIDES, "B"),
    ("The flow is mostly to the right. The camera moves in the opposite direction.", SIDES, None),
    ("The flow points right, i.e. the opposite of the camera, which moves left.", SIDES, "A"),
    ("The camera is not moving to the left.", SIDES, None),
    ("It is moving to the right, not to the left.", SIDES, "B"),
    ("The camera is moving clockwise around the table, that is, to the left.", SIDES, "A"),
    ("Objects move from left to right. Answer: (A) left", SIDES, "A"),
    ("相机向左移动。", SIDES, "A"),
    ("物体向右移动，因此相机向左移动，答案是(A)。", SIDES, "A"),
    ("Die Kamera bewegt sich nach rechts. Antwort: (B)", SIDES, "B"),
    ("La caméra se déplace vers la gauche, donc la réponse est A.", SIDES, "A"),
    ("La cámara se mueve hacia la derecha.", SIDES, "B"),
    # HardBLINK: which point is the nearest
    ("Answer: A>B", NEAREST, None),
    ("Answer: A > B > C", NEAREST, None),
    ("r(A)=0.91 > r(B)=0.74 > r(C)=0.33, so A.", NEAREST, "A"),
    (
        "Comparing nearness: A 0.41, B 0.77, C 0.12. Highest wins, so B is closest to the camera.",
        NEAREST,
        "B",
    ),
    ("Point C has the largest mid-range value (0.88), so Point C is closest.", NEAREST, "C"),
    ("It is not A. It is not B either.", NEAREST, None),
    ("It is not A. It's C.", NEAREST, "C"),
    ("Not B. A.", NEAREST, "A"),
    ("C is the farthest, B is the second farthest, leaving A as the closest.", NEAREST, "A"),
    ("Among the three, B is nearest; A and C lie further back.", NEAREST, "B"),
    ("Point B > Point A > Point C in nearness. Therefore, the answer is (B).", NEAREST, "B"),
    ("The wrong answer would be A.", NEAREST, None),
    ("错误答案是A。", NEAREST, None),
    ("错误的选项是A，正确的是B。", NEAREST, "B"),
    ("答案不是A，而是C。", NEAREST, "C"),
    ("点B离相机最近。", NEAREST, "B"),
    ("根据深度值，B点的r最大，所以选B。", NEAREST, "B"),
    ("离相机最近的点是C。", NEAREST, "C"),
    ("Punkt B ist am nächsten an der Kamera.", NEAREST, "B"),
    ("Nicht A, sondern B.", NEAREST, "B"),
    ("Le point C est le plus proche de la caméra.", NEAREST, "C"),
    ("La réponse n'est pas A, c'est B.", NEAREST, "B"),
    ("El punto A está más cerca de la cámara.", NEAREST, "A"),
    ("La respuesta correcta no es B sino C.", NEAREST, "C"),
    # visual correspondence: which point is REF's
    (
        "REF (412, 305) matches (398, 311) in the second image; the nearest candidate is B at (401, 309).\n\nFinal answer: B",
        POINTS,
        "B",
    ),
    ("REF lands next to D (distance 12), while A, B and C are more than 200 away.", POINTS, "D"),
    ("D is the only candidate within 20 pixels of the transferred point.", POINTS, "D"),
    ("Candidates by distance: C (8), A (140), D (255), B (390). So: C", POINTS, "C"),
    (
        "I'd rule out A and D, and between B and C, C is the one on the same window corner.",
        POINTS,
        "C",
    ),
    ("Answer: (E)", POINTS, None),
    ("None of the candidates A, B, C, D coincides with REF.", POINTS, None),
    ("The answer isn't A; B isn't either; it must be D.", POINTS, "D"),
    ("对应点是 D。", POINTS, "D"),
    ("参考点对应于B点，而不是A点。", POINTS, "B"),
    ("Richtig ist Punkt D.", POINTS, "D"),
    ("La opción correcta es la C.", POINTS, "C"),
    ("Je choisis le point A.", POINTS, "A"),
    # jigsaw
    (
        "A: left 0.23, top 0.40; B: left 0.86, top 0.93. B fits both borders better.\n\nAnswer: (B)",
        IMAGES,
        "B",
    ),
    ("Candidate B continues the road; the second image leaves a visible seam.", IMAGES, "B"),
    ("The second image doesn't fit. The third image does.", IMAGES, "B"),
    ("The missing part is not the third image.", IMAGES, None),
    ("Mean of A = 0.31, mean of B = 0.89 → the third image", IMAGES, "B"),
    ("It can't be A: the horizon breaks. Hence B.", IMAGES, "B"),
    ("正确的是第三张图片。", IMAGES, "B"),
    ("选项A不正确，因此答案为B。", IMAGES, "B"),
    ("Das dritte Bild passt besser. Antwort: B", IMAGES, "B"),
    ("C'est la troisième image (B).", IMAGES, "B"),
    ("La segunda imagen es la correcta: (A).", IMAGES, "A"),
    # object localisation
    ("IoU with the detection: A 0.52, B 0.91. Box B.", BOXES, "B"),
    ("Box A is too large. Box B is tight.", BOXES, "B"),
    ("IoU(A) > IoU(B), so the answer is Box A", BOXES, "A"),
    ("B's box is a poor fit; A's is nearly exact. (A)", BOXES, "A"),
    ("方框B更准确地包围了狗。", BOXES, "B"),
    ("Die richtige Antwort ist nicht B.", BOXES, None),
    ("La boîte A est plus précise.", BOXES, "A"),
    ("La caja B es más precisa, por lo tanto B.", BOXES, "B"),
    # semantic correspondence
    ("Similarities: A 0.31, B 0.22, C 0.78, D 0.40. C has the highest similarity.", POINTS, "C"),
    (
        "The REF marks the left ear; A is on the right ear, B on the nose, D on the left ear. D",
        POINTS,
        "D",
    ),
    ('{"reasoning": "C is on the paw, not on the ear", "answer": "A"}', POINTS, "A"),
    ("Highest r: A (0.8123)", POINTS, "A"),
    ("B is the opposite paw, so it's C.", POINTS, "C"),
    # yes and no, and numbers, in other languages
    ("Sí.", YES_NO, "A"),
    ("Oui, tout à fait.", YES_NO, "A"),
    ("Nein, das stimmt nicht.", YES_NO, "B"),
    ("Ja, das Auto steht rechts.", YES_NO, "A"),
    ("No, el perro no está detrás.", YES_NO, "B"),
    ("是的，猫在桌子下面。", YES_NO, "A"),
    ("不，猫不在桌子下面。", YES_NO, "B"),
    (">1", COUNTS, None),
    ("<2", COUNTS, None),
    ("≥ 1", COUNTS, None),
    ("more than 1", COUNTS, None),
]

# What a person reads and the rules do not.
UNREAD = [
    ("Box A cuts off the wheels and Box B encloses the whole motorcycle accurately.", BOXES, "B"),
]
