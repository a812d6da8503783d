"""Replies in the manner of other models, written after the rules and read once before any change."""

from __future__ import annotations

from answer_replies import (
    BOXES,
    CLOSER,
    COUNTS,
    DARKER,
    FOUR_IMAGES,
    IMAGES,
    POINTS,
    SIDES,
    YES_NO,
    lettered,
)

TURNS = lettered("clockwise", "counter-clockwise")

CASES = [
    # terse
    ("ans: c", POINTS, "C"),
    ("=> B", POINTS, "B"),
    ("opt. D", POINTS, "D"),
    ("B ✓", POINTS, "B"),
    ("left!", SIDES, "A"),
    ("2nd", IMAGES, None),
    # chatty
    ("Great question! Looking closely, I'm leaning toward option C here 😊", POINTS, "C"),
    ("Haha, tricky one. My money is on B.", POINTS, "B"),
    ("Okay so honestly both look fine, but B just clicks with the road, so B it is!", IMAGES, "B"),
    ("Hi! The piece you want is the second one (the second image). Hope this helps!", IMAGES, "A"),
    ("Sure thing — it's gotta be Box A, the other box cuts off the tail.", BOXES, "A"),
    ("You can see the shadow falls right. The camera, I'd say, went left.", SIDES, None),
    # markdown
    ("## Verdict\n\n> **Option B** — the curb lines up.", IMAGES, "B"),
    ("| Point | Depth |\n|---|---|\n| A | 0.3 |\n| B | 0.9 |\n\n**Closest:** B", POINTS, "B"),
    (
        "1. A: off the roof\n2. B: off the sill\n3. C: **match**\n4. D: off the door\n\n**C**",
        POINTS,
        "C",
    ),
    ("**Final verdict:** _D_", POINTS, "D"),
    (
        "- **A** – no\n- **B** – no\n- **C** – yes\n- **D** – no\n\nSo **C** is the match.",
        POINTS,
        "C",
    ),
    ("### Answer\n```\n(A)\n```\n### Confidence\n0.8", POINTS, "A"),
    # boxed
    ("Thus $\\boxed{\\mathrm{D}}$", POINTS, "D"),
    ("$$\\text{Answer} = \\boxed{(B)}$$ The point farthest away is $A$.", POINTS, "B"),
    ("We get $r_A < r_B$, hence $\\boxed{\\text{B is closer}}$.", CLOSER, "B"),
    ("\\(\\boxed{C}\\) (if the mirror is ignored, it would be D)", POINTS, "C"),
    # JSON
    ('{"choice": "B", "runner_up": "C"}', POINTS, "B"),
    (
        '{"reason": "A is blurry", "answer": {"letter": "B", "text": "the third image"}}',
        IMAGES,
        "B",
    ),
    ('{"A": 0.1, "B": 0.7, "C": 0.1, "D": 0.1}', POINTS, None),
    ('```json\n{"thought": "farthest is D", "final": "A"}\n```', POINTS, "A"),
    # Chinese
    ("最近的点是B，最远的点是D。", POINTS, None),
    ("我认为是C，而不是A。", POINTS, "C"),
    ("排除A、B、D，答案是C。", POINTS, "C"),
    ("如果参考点是左耳，答案会是D。但这里答案是B。", POINTS, "B"),
    ("答案：A（第二张图）。B也有可能，但接缝明显。", IMAGES, "A"),
    # hedged
    ("Hard to be sure; probably C, though D isn't impossible.", POINTS, "C"),
    ("I'd put 60% on A and 40% on B.", IMAGES, None),
    ("Most likely (B), with (A) as a distant second.", IMAGES, "B"),
    ("It seems to be A, but I wouldn't rule out B.", IMAGES, "A"),
    ("Perhaps Box B? The edges seem tighter, so I'll say Box B.", BOXES, "B"),
    ("My answer: B (low confidence; A is a close second).", IMAGES, "B"),
    # corrected
    ("A. No wait, B.", IMAGES, "B"),
    ("The answer is C — correction: D.", POINTS, "D"),
    ("I said A earlier, but looking again it's B.", IMAGES, "B"),
    ("Answer: left. Hmm, objects go left, so actually the answer is right.", SIDES, "B"),
    ("The closest is B. Hold on, C has a larger value. The closest is C.", POINTS, "C"),
    # refused
    ("I can't view images, so I can't answer this.", POINTS, None),
    ("Sorry, no image was attached. Could you upload the second image again?", IMAGES, None),
    ("As a text model I can't see the boxes; a random guess would be A.", BOXES, "A"),
    ("I'm not able to determine whether A or B is closer.", CLOSER, None),
    ("Without the pictures I can only say that the answer is one of A, B, C or D.", POINTS, None),
    # comparing
    ("Between A and B, B has the cleaner join.", IMAGES, "B"),
    ("A's horizon is too low; B's lines up. B.", IMAGES, "B"),
    ("A is the darker of the two.", DARKER, "A"),
    ("Box A covers the cup better than Box B does.", BOXES, "A"),
    ("The depth at A exceeds that at B: A is farther, B is nearer.", CLOSER, "B"),
    # eliminating
    ("Not A (too high). Not D (wrong side). Not B. So C remains.", POINTS, "C"),
    ("Images 1, 2 and 4 look real. The fake, hence my pick, is the third image.", FOUR_IMAGES, "C"),
    ("It's not going clockwise, so counter-clockwise.", TURNS, "B"),
    ("There aren't 10 cups, nor 1: I count two.", COUNTS, "D"),
    ("The cat isn't under the table, so no.", YES_NO, "B"),
]

# What a person reads and the rules do not.
UNREAD = [
    ("First I thought (D). The texture shows it is (A).", POINTS, "A"),
    ("Point B sits in front of point A, so it is the closer of the two.", CLOSER, "B"),
    ("B is not as dark as A.", DARKER, "A"),
    ("A and C can be discarded, and D as well; only B is left.", POINTS, "B"),
]
