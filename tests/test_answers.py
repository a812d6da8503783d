"""Answers read from raw replies."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception_programs import InputError
from perception_programs.blink.answers import Answer, extract

LETTERS = string.ascii_uppercase


def lettered(*texts: str) -> dict[str, str]:
    return dict(zip(LETTERS, texts, strict=False))


POINTS = lettered("Point A", "Point B", "Point C", "Point D")
IMAGES = lettered("the second image", "the third image")
FOUR_IMAGES = lettered("the first image", "the second image", "the third image", "the fourth image")
YES_NO = lettered("yes", "no")
SIDES = lettered("left", "right")
COUNTS = lettered("0", "1", "10", "2")
CLOSER = lettered("A is closer", "B is closer")
DARKER = lettered("A is darker", "B is darker", "About the same")
BOXES = lettered("Box A", "Box B")
PETS = lettered("A cat", "A dog", "A horse")
COLOURS = lettered("red", "dark red", "blue", "green")
MANY = lettered(*(f"item {n}" for n in range(26)))

CASES = [
    # the whole reply
    ("B", POINTS, "B"),
    ("b", POINTS, "B"),
    ("a", POINTS, "A"),
    ("(B)", POINTS, "B"),
    ("(b)", POINTS, "B"),
    ("b)", POINTS, "B"),
    ("B.", POINTS, "B"),
    ("[C]", POINTS, "C"),
    ("<C>", POINTS, "C"),
    ("**D**", POINTS, "D"),
    ("**(A)**", POINTS, "A"),
    ("***C***", POINTS, "C"),
    ("`C`", POINTS, "C"),
    ("$C$", POINTS, "C"),
    ("\\boxed{C}", POINTS, "C"),
    ("$\\boxed{\\text{C}}$", POINTS, "C"),
    ("$$\\boxed{\\textbf{(C)}}$$", POINTS, "C"),
    ("（Ｃ）", POINTS, "C"),
    ("Ｃ", POINTS, "C"),
    ("【C】", POINTS, "C"),
    ('"C"', POINTS, "C"),
    ("“C”", POINTS, "C"),
    ("  \n\t(D)\n", POINTS, "D"),
    ("\u200bD\u200b", POINTS, "D"),
    ("E", POINTS, None),
    ("(E)", POINTS, None),
    ("C", IMAGES, None),
    ("Z", MANY, "Z"),
    ("I", MANY, "I"),
    ("(Q) item 16", MANY, "Q"),
    ("Point C", POINTS, "C"),
    ("point c", POINTS, "C"),
    ("C. Point C", POINTS, "C"),
    ("C) Point C", POINTS, "C"),
    ("(B) the third image", IMAGES, "B"),
    ("the third image", IMAGES, "B"),
    ("The third image.", IMAGES, "B"),
    ("yes", YES_NO, "A"),
    ("No.", YES_NO, "B"),
    ("Right", SIDES, "B"),
    ("left", SIDES, "A"),
    ("10", COUNTS, "C"),
    ("1", COUNTS, "B"),
    ("11", COUNTS, None),
    ("A is closer", CLOSER, "A"),
    ("B is closer.", CLOSER, "B"),
    ("About the same", DARKER, "C"),
    ("A dog", PETS, "B"),
    ("dark red", COLOURS, "B"),
    ("Red", COLOURS, "A"),
    ("はい", YES_NO, "A"),
    ("左", SIDES, "A"),
    # nothing to read
    ("", POINTS, None),
    ("   \n", POINTS, None),
    ("...", POINTS, None),
    ("I am not sure.", POINTS, None),
    ("The", lettered(*"stuvwxyzabcdefghijkl"), None),
    ("The image shows a table.", MANY, None),
    ("I think it is hard to say.", MANY, None),
    ("A man is standing near a dog.", YES_NO, None),
    ("A dog is closer to the camera.", lettered("cat", "dog"), "B"),
    ("A dog is closer to the camera.", POINTS, None),
    ("A picture of a garden with a T-shirt and an X-ray.", POINTS, None),
    ("None of the above", POINTS, None),
    ("None of the above.", YES_NO, None),
    ("The answer is none of the above.", POINTS, None),
    ("Neither A nor B.", BOXES, None),
    ("Neither (A) nor (B) encloses the cup.", BOXES, None),
    ("Neither of the bounding boxes A or B encloses it.", BOXES, None),
    ("Both A and B", BOXES, None),
    ("both A and B are correct", BOXES, None),
    ("A or B", BOXES, None),
    ("A and B", DARKER, None),
    ("(A) or (B)", BOXES, None),
    ("A/B", BOXES, None),
    ("A, B", BOXES, None),
    ("The answer is A or B.", BOXES, None),
    ("The correct answer is either (A) or (C).", POINTS, None),
    ("The answer is (A) Point A and (B) Point B.", POINTS, None),
    ("Answer: A, C and D", POINTS, None),
    ("The answer cannot be determined.", POINTS, None),
    ("I'm sorry, but I can't help with identifying people in the second image.", IMAGES, None),
    ("I'm sorry, I cannot view images.", YES_NO, None),
    ("The answer is E.", POINTS, None),
    ("The correct answer is (F) Point F.", POINTS, None),
    ("There is no car in the picture.", YES_NO, None),
    # declarations
    ("Answer: B", POINTS, "B"),
    ("answer: b", POINTS, "B"),
    ("ANSWER: B", POINTS, "B"),
    ("Answer B", POINTS, "B"),
    ("Answer - B", POINTS, "B"),
    ("Answer – B", POINTS, "B"),
    ("Answer = B", POINTS, "B"),
    ("Answer:\nB", POINTS, "B"),
    ("## Answer\n\nB", POINTS, "B"),
    ("**Answer:** B) right", SIDES, "B"),
    ("**Answer**: (B)", POINTS, "B"),
    ("**Answer: B**", POINTS, "B"),
    ("**Final Answer**\n\n\\boxed{B}", POINTS, "B"),
    ("Final Answer: $\\boxed{B}$", POINTS, "B"),
    ("The final answer is $\\boxed{\\text{(B) Point B}}$.", POINTS, "B"),
    ("My answer is **B**.", POINTS, "B"),
    ("I choose option B.", POINTS, "B"),
    ("I would choose (B).", POINTS, "B"),
    ("I'd go with B.", POINTS, "B"),
    ("I'll go with option C", POINTS, "C"),
    ("I would select choice (B), the third image.", IMAGES, "B"),
    ("I pick D!", POINTS, "D"),
    ("The correct option is B because A is too far.", POINTS, "B"),
    ("The correct answer is (C), not (A).", POINTS, "C"),
    ("The correct answer is not (A). The correct answer is (C).", POINTS, "C"),
    ("The correct choice is:\n(B) the third image", IMAGES, "B"),
    ("So, the answer is:\n\n**(A) the second image**", IMAGES, "A"),
    ("The answer is the third image.", IMAGES, "B"),
    ("Answer: second image", IMAGES, "A"),
    ("Answer: Image 3", IMAGES, "B"),
    ("Answer: no", YES_NO, "B"),
    ("The answer is yes, it is.", YES_NO, "A"),
    ("The answer is 10.", COUNTS, "C"),
    ("Answer: 1", COUNTS, "B"),
    ("Answer: A dog", PETS, "B"),
    ("The answer is A because it overlaps.", POINTS, "A"),
    ("The answer is A", POINTS, "A"),
    ("The answer is a.", POINTS, "A"),
    ("Option B is correct.", POINTS, "B"),
    ("Option B is the correct answer.", POINTS, "B"),
    ("(B) is the best choice.", POINTS, "B"),
    ("B is right.", POINTS, "B"),
    ("Option A is incorrect. Option B is correct.", POINTS, "B"),
    ("Therefore, (C).", POINTS, "C"),
    ("So it's D.", POINTS, "D"),
    ("Hence the answer: (D)", POINTS, "D"),
    ("The best match is Point C.", POINTS, "C"),
    ("The point that corresponds to REF is (B).", POINTS, "B"),
    ('{"answer": "B"}', POINTS, "B"),
    ('```json\n{"reasoning": "A is too far", "answer": "B"}\n```', POINTS, "B"),
    ('{"answer": "(C) Point C", "confidence": 0.9}', POINTS, "C"),
    ("{'choice': 'D'}", POINTS, "D"),
    ("<answer>B</answer>", POINTS, "B"),
    ("<think>It may be A.</think>\n<answer>(D)</answer>", POINTS, "D"),
    ("<|begin_of_box|>B<|end_of_box|>", POINTS, "B"),
    ("B</s>", POINTS, "B"),
    ("(B) no<|im_end|>", YES_NO, "B"),
    ("B<|endoftext|>", POINTS, "B"),
    ("<b>B</b>", POINTS, "B"),
    ("<p>The answer is <strong>C</strong>.</p>", POINTS, "C"),
    ("<think>The answer is A.</think>B", POINTS, "B"),
    ("<think>The answer is A.</think>", POINTS, None),
    ("<think>The answer is A. But wait", POINTS, None),
    ("It might be A. </think> The answer is C.", POINTS, "C"),
    ("<|channel|>analysis<|message|>A?<|end|><|channel|>final<|message|>B", POINTS, "B"),
    ("◁think▷A◁/think▷B", POINTS, "B"),
    ("[THINK]A it is[/THINK]The answer is D", POINTS, "D"),
    ("Is the answer A? No. The answer is B.", POINTS, "B"),
    ("If the answer were A, the edges would match. The answer is B.", POINTS, "B"),
    ("The answer is A. Wait, the shadow is wrong, so the answer is (C).", POINTS, "C"),
    ("First I thought the answer is B. Actually the correct answer is A.", POINTS, "A"),
    ("A: far\nB: near\nC: far\nD: far\n\nAnswer: B", POINTS, "B"),
    ("Let me look.\n- Point A: roof\n- Point B: door\n\nB", POINTS, "B"),
    ("Options:\n(A) yes\n(B) no\n\nThe dog is left of it, so yes.\n\nAnswer: (A) yes", YES_NO, "A"),
    # other languages
    ("答案是B", POINTS, "B"),
    ("答案：B", POINTS, "B"),
    ("正确答案是：（C）", POINTS, "C"),
    ("【答案】D", POINTS, "D"),
    ("因此，答案为 B。", POINTS, "B"),
    ("故选C", POINTS, "C"),
    ("我选择选项B。", POINTS, "B"),
    ("所以正确的选项是 **A**", POINTS, "A"),
    ("选项B是正确的", POINTS, "B"),
    ("答えはBです。", POINTS, "B"),
    ("正解は(C)です", POINTS, "C"),
    ("정답은 B입니다.", POINTS, "B"),
    ("La respuesta correcta es B.", POINTS, "B"),
    ("La réponse est (C).", POINTS, "C"),
    ("Die richtige Antwort ist B.", POINTS, "B"),
    ("Die Antwort lautet: C", POINTS, "C"),
    ("La risposta corretta è D", POINTS, "D"),
    ("A resposta correta é B", POINTS, "B"),
    ("Ответ: B", POINTS, "B"),
    ("Правильный ответ — C", POINTS, "C"),
    ("Đáp án: B", POINTS, "B"),
    ("Jawaban: C", POINTS, "C"),
    # brackets in running text
    ("The reference lies on the roof, so this is (B) to me.", POINTS, "B"),
    ("(B) Box B\n\nBox B encloses it. Box A does not.", BOXES, "B"),
    ("The door matches Point B (B). The others do not.", POINTS, "B"),
    ("The other points (A, B, C) lie elsewhere; Point D is on the beak.", POINTS, "D"),
    ("Among the points (A, B, C, D), the one on the handle is:\n\n(B) Point B", POINTS, "B"),
    ("It is not (A).", POINTS, None),
    ("Look at object(s) and image(s).", lettered(*"pqrstuvwxyzabcdefghij"), None),
    # a leading letter
    ("B, as it is lower.", POINTS, "B"),
    ("C - because the wheel is there.", POINTS, "C"),
    ("B is darker. Point B is on wood while A is on a wall.", DARKER, "B"),
    ("Option C: the wheel.", POINTS, "C"),
    ("A is not closer.", CLOSER, None),
    # conclusions
    ("Box B more accurately encloses the cup. Box A is too large.", BOXES, "B"),
    ("The camera is moving right when shooting. The cup goes from left to right.", SIDES, "B"),
    ("Point A is on the roof. Point C is on the sill. Therefore point C matches.", POINTS, "C"),
    ("Based on the edges, the third image fits, while the second image does not.", IMAGES, "B"),
    ("The surface colors at points A and B appear to be about the same.", DARKER, "C"),
    ("The third image (C) is most similar to the first image (A).", IMAGES, "B"),
    ("Unlike the second image, the third image continues the road.", IMAGES, "B"),
    ("The third image does not match at all.", IMAGES, None),
    ("The point on the mirror is Point C.", POINTS, "C"),
    ("There are 2 people in the picture.", COUNTS, "D"),
    ("There are two people in the picture.", COUNTS, "D"),
    ("There are 12 people in the picture.", COUNTS, None),
    ("The car is blue.", COLOURS, "C"),
    ("The car is dark red.", COLOURS, "B"),
    ("Point A is near the roof and point B is near the door", POINTS, None),
    # as other models write
    ("Therefore, the correct answer is option (B)", POINTS, "B"),
    ("The answer should be B", POINTS, "B"),
    ("Correct answer: B", POINTS, "B"),
    ("Correct option: (B)", POINTS, "B"),
    ("Final choice: B", POINTS, "B"),
    ("Selected option: B", POINTS, "B"),
    ("Prediction: B", POINTS, "B"),
    ("Ans: B", POINTS, "B"),
    ("answer is B", POINTS, "B"),
    ("The answer is: **B. the third image**", IMAGES, "B"),
    ("**B) Point B**", POINTS, "B"),
    ("B\n\nExplanation: A is too far, and C is on the roof.", POINTS, "B"),
    ("Option (B)", POINTS, "B"),
    ("It's B", POINTS, "B"),
    ("Based on the edges, I would say the answer is (B).", POINTS, "B"),
    ("I believe the answer is B", POINTS, "B"),
    ("Conclusion: B", POINTS, "B"),
    ("\\[ \\boxed{B} \\]", POINTS, "B"),
    ("\\(\\boxed{B}\\)", POINTS, "B"),
    ("Answer: $B$", POINTS, "B"),
    ("Answer: 'B'", POINTS, "B"),
    ("Answer: [B]", POINTS, "B"),
    ("Answer: {B}", POINTS, "B"),
    ("Answer: B: the third image", IMAGES, "B"),
    ("→ B", POINTS, "B"),
    ("✅ **B**", POINTS, "B"),
    ("The answer is B, not A.", POINTS, "B"),
    ("B instead of A", POINTS, "B"),
    ("B rather than A.", POINTS, "B"),
    ("I would eliminate A. So B.", POINTS, "B"),
    ("I don't think the answer is A; it's B.", POINTS, "B"),
    ("Answer: B or maybe C", POINTS, None),
    ("Answer: B (or C)", POINTS, None),
    ("Answer: B and not A", POINTS, "B"),
    ("Answer: B. A is too far.", POINTS, "B"),
    ("Answer: B, A is too far.", POINTS, "B"),
    ("The answer is B as A is too far", POINTS, "B"),
    ("The answer is \\boxed{A. left}", SIDES, "A"),
    ("\\boxed{\\text{left}}", SIDES, "A"),
    ("\\boxed{right}", SIDES, "B"),
    (
        "Okay, let me think. Point A is near the roof. Point B maybe? Hmm, C looks off. Wait, B has the same texture. So the answer is B.",
        POINTS,
        "B",
    ),
    (
        "Looking at the image, the answer could be A or B. On reflection the answer is B.",
        POINTS,
        "B",
    ),
    ("The camera moved to the left.", SIDES, "A"),
    ("The camera is rotating left around the object, so objects shift right.", SIDES, None),
    ("Yes, the cup is on the table.", YES_NO, "A"),
    ("No, the cat is not on the left side.", YES_NO, "B"),
    ("Yes", YES_NO, "A"),
    ("**Yes**, it is.", YES_NO, "A"),
    (
        "I think the answer is (B).\n\nHowever, let me double check... the answer is (C) after all.",
        POINTS,
        "C",
    ),
    ("The correct answer is **Option C: Point C**.", POINTS, "C"),
    ("Choice: D", POINTS, "D"),
    ("**Option D**", POINTS, "D"),
    ("Option **D** is the right one.", POINTS, "D"),
    ("The most likely real photograph is (C) the third image.", FOUR_IMAGES, "C"),
    (
        "The third image is most likely to be real. The first image and the second image look edited.",
        FOUR_IMAGES,
        "C",
    ),
    ("Image 3 is most likely real.", FOUR_IMAGES, "C"),
    ("third", FOUR_IMAGES, None),
    (
        "Let's compare:\n\n**Option A**: blurry\n**Option B**: sharp\n\n**Answer: Option B**",
        POINTS,
        "B",
    ),
    ("Final answer: B\n\nConfidence: high", POINTS, "B"),
    ("### Final Answer:\n**(C) Point C**", POINTS, "C"),
    ("The answer is (C)\nPoint C", POINTS, "C"),
    ("The best answer is D: Point D.", POINTS, "D"),
    ("I'm confident that B corresponds to REF.", POINTS, "B"),
    ("REF corresponds to D.", POINTS, "D"),
    ("REF matches point B, while A lies lower.", POINTS, "B"),
    ("A\nB\nC\nD", POINTS, None),
    ("A, B, C, D", POINTS, None),
    ("(A) Point A\n(B) Point B\n(C) Point C\n(D) Point D", POINTS, None),
    ("Select from the following choices.\n(A) left\n(B) right\nAnswer:", SIDES, None),
    ("I cannot determine the answer from the image.", POINTS, None),
    ("Unable to determine.", YES_NO, None),
    ("B is closer to the camera than A.", CLOSER, "B"),
    ("Point B is closer.", CLOSER, "B"),
    ("Point A appears closer to the camera than point B.", CLOSER, "A"),
    ("The point A is nearer.", CLOSER, "A"),
    ("A > B", DARKER, None),
    ("Both points have about the same reflectance.", DARKER, "C"),
    ("Point A is darker than point B", DARKER, "A"),
    ("There are 10 cars, 1 of which is red.", COUNTS, None),
    ("10.", COUNTS, "C"),
    ("Answer: 10", COUNTS, "C"),
    ("Answer: 3", COUNTS, None),
    ("The answer is 2.", COUNTS, "D"),
    ("La bonne réponse est la B.", POINTS, "B"),
    ("Antwort: (C)", POINTS, "C"),
    ("Respuesta: (B) Point B", POINTS, "B"),
    ("Cevap: B", POINTS, "B"),
    ("Odpowiedź: C", POINTS, "C"),
    ("答案应该是 (B) Point B", POINTS, "B"),
    ("选B", POINTS, "B"),
    ("选择C。", POINTS, "C"),
    ("因此，正确答案是 B: 第三张图", IMAGES, "B"),
    ("综上所述，答案选D", POINTS, "D"),
    ("最终答案：**B**", POINTS, "B"),
    ("正确答案不是A，而是B。", POINTS, "B"),
    ("A是错误的，B是正确的。", POINTS, "B"),
    ("答案：\n\n$\\boxed{B}$", POINTS, "B"),
    ("따라서 정답은 (C)입니다.", POINTS, "C"),
    ("回答：B", POINTS, "B"),
    ("选项A和B都不对", POINTS, None),
    ("الإجابة الصحيحة هي B", POINTS, "B"),
    ("सही उत्तर B है", POINTS, "B"),
    ("Câu trả lời là C", POINTS, "C"),
    ("คำตอบคือ B", POINTS, "B"),
    ("The answer is A dog.", POINTS, None),
    ("The answer is a dog.", PETS, "B"),
    ("a horse", PETS, "C"),
    ("It is a horse, not a cat.", PETS, "C"),
    ("Out of the options, B seems right.", POINTS, "B"),
    ("We have A: 0.2, B: 0.9, C: 0.1. Highest is B.", POINTS, "B"),
    ("Box B", BOXES, "B"),
    ("The second box, Box B, is tighter.", BOXES, "B"),
    ("Box A is more accurate than Box B.", BOXES, "A"),
    ("Box B is not accurate; Box A is.", BOXES, "A"),
    ("Not A. Not C. Not D.", POINTS, None),
    ("The answer isn't B.", POINTS, None),
    ("I would not choose C.", POINTS, None),
    ("I can't choose between (A) and (B).", POINTS, None),
    ("It's a tie between A and B", POINTS, None),
    ("Answer: A dog is closer.", POINTS, None),
    ('{"answer": "A"}', POINTS, "A"),
    ('{"answer": null}', POINTS, None),
    ('[{"answer":"C"}]', POINTS, "C"),
    ('{"final_answer": "D", "why": "A is off"}', POINTS, "D"),
    ('{"answer":"second image"}', IMAGES, "A"),
    ("The answer is (I).", MANY, "I"),
    ("The answer is Z.", MANY, "Z"),
    ("Answer: item 21", MANY, "V"),
    ("I", POINTS, None),
    ("<|im_start|>assistant\nB<|im_end|>", POINTS, "B"),
    ("ASSISTANT: B", POINTS, "B"),
    ("Assistant: The answer is (B).", POINTS, "B"),
    ("B B B B", POINTS, "B"),
    ("B\nB", POINTS, "B"),
    ("Answer: B\nAnswer: B", POINTS, "B"),
    ("Thus the camera moved left (A).", SIDES, "A"),
    ("The depth at A is 0.8 and at B is 0.3, so A is closer.", CLOSER, "A"),
    ("A: 0.8, B: 0.3. Larger r means closer. So A is closer.", CLOSER, "A"),
    ("r(A)=0.81 > r(B)=0.32 → A", CLOSER, "A"),
    ("The answer is **(A) the second image** because its edges match, unlike (B).", IMAGES, "A"),
    ("(A) is wrong, (B) is wrong, (C) is wrong, so (D).", POINTS, "D"),
    ("All options except C are wrong, so the answer is C.", POINTS, "C"),
    ("Candidate B has the higher score (0.92 vs. 0.51), so I pick candidate B.", IMAGES, "B"),
    ("The correct answer is: \n\n> **C. Point C**", POINTS, "C"),
    ("My final answer: (d)", POINTS, "D"),
    ("option d", POINTS, "D"),
    ("d.", POINTS, "D"),
    ("Answer:(B)", POINTS, "B"),
    ("Answer:B", POINTS, "B"),
    ("answer:b)", POINTS, "B"),
    ("ANSWER:  \n\n  B", POINTS, "B"),
    ("The answer is B?", POINTS, None),
    ("B?", POINTS, "B"),
    ("B — the third image", IMAGES, "B"),
    ("r is 0.82 at A and 0.43 at B. Larger is nearer.\n\n**Answer: A**", CLOSER, "A"),
    ("The second box is tighter, so I'd say (B).", BOXES, "B"),
    ("The man looks comfortable, therefore Box B.", BOXES, "B"),
    ("Neither A nor B fits. Box A shows a window.", BOXES, None),
]


@pytest.mark.parametrize(("text", "options", "letter"), CASES)
def test_replies(text: str, options: dict[str, str], letter: str | None) -> None:
    assert extract(text, options).letter == letter


def test_there_are_enough_cases() -> None:
    assert len({(text, *options.values()) for text, options, _ in CASES}) == len(CASES) >= 300


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("(B)", "whole"),
        ("The answer is B.", "declared"),
        ("The roof is where it lies (B), I suppose.", "bracketed"),
        ("B, as it is lower.", "leading"),
        ("Point B matches it.", "conclusion"),
        ("That is the roof with Point B.", "text"),
        ("It is hard to see.", "none"),
    ],
)
def test_the_rule_that_decided_is_named(text: str, how: str) -> None:
    assert extract(text, POINTS) == Answer(None if how == "none" else "B", how)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (None, POINTS),
        (b"B", POINTS),
        ("B", {"a": "x", "b": "y"}),
        ("B", {"AB": "x"}),
        ("B", {"": "x"}),
        ("B", {"A": 1}),
    ],
)
def test_bad_input_is_refused(text: str, options: dict[str, str]) -> None:
    with pytest.raises(InputError, match="expected"):
        extract(text, options)


# What replies are made of; joined at random they make every kind of nonsense.
PIECES = st.sampled_from(
    [
        "A",
        "B",
        "C",
        "E",
        "I",
        "a",
        "b",
        "(",
        ")",
        "[",
        "]",
        "**",
        "*",
        "`",
        "$",
        "#",
        "-",
        ":",
        ".",
        ",",
        "?",
        "\n",
        "\n\n",
        "the",
        "a",
        "an",
        "answer",
        "is",
        "not",
        "correct",
        "option",
        "choose",
        "therefore",
        "so",
        "or",
        "and",
        "neither",
        "none",
        "\\boxed{",
        "}",
        "<think>",
        "</think>",
        "<answer>",
        "second",
        "third",
        "image",
        "Point",
        "yes",
        "no",
        "答案",
        "是",
        "B。",
        "（B）",
        '"',
        "'",
        "1",
        "10",
        "A's",
        "don't",
        "if",
    ]
)
RENAMED = PIECES.filter(lambda piece: piece not in ("A", "I", "a", "B。", "（B）", "A's"))
NONSENSE = st.lists(PIECES, max_size=25).map(" ".join) | st.text(max_size=80)
ALL_OPTIONS = st.sampled_from([POINTS, IMAGES, YES_NO, COUNTS, CLOSER, DARKER, PETS, MANY])


class TestProperties:
    @given(NONSENSE, ALL_OPTIONS)
    def test_a_letter_is_always_an_option(self, text: str, options: dict[str, str]) -> None:
        answer = extract(text, options)
        assert answer.letter is None or answer.letter in options
        assert answer == extract(text, options)

    @given(st.sampled_from(LETTERS), st.integers(2, 26))
    def test_a_letter_is_itself_or_none(self, letter: str, count: int) -> None:
        options = lettered(*(f"item {n}" for n in range(count)))
        expected = letter if letter in options else None
        for form in (
            "{}",
            "({})",
            "**{}**",
            "**({})**",
            "Answer: {}",
            "\\boxed{{{}}}",
            "{}.",
            "[{}]",
        ):
            assert extract(form.format(letter), options).letter == expected

    @given(
        st.sampled_from(["{}", "The answer is {}.", "So, {}.", "I choose option {}", "选{}"]),
        st.sampled_from(
            ["{}", "({})", "**{}**", "**({})**", "`{}`", "[{}]", "$\\text{{{}}}$", "（{}）"]
        ),
        st.sampled_from(
            ["{}", "**{}**", "<p>{}</p>", "<think>A or B?</think>{}", "{}</s>", "\n> {}\n"]
        ),
        st.sampled_from("ABCD"),
    )
    def test_markup_changes_nothing(self, said: str, marked: str, around: str, letter: str) -> None:
        text = around.format(said.format(marked.format(letter)))
        assert extract(text, POINTS).letter == letter

    @given(st.lists(RENAMED, max_size=25), st.permutations("BCDEFG"))
    def test_letters_are_alike(self, pieces: list[str], order: list[str]) -> None:
        """Another lettering gives the other letter; A and I are left out, being words too."""
        options = {letter: f"item {n}" for n, letter in enumerate("BCDEFG")}
        table = str.maketrans("BCDEFGbcdefg", "".join(order) + "".join(order).lower())
        others = [piece.translate(table) if len(piece) == 1 else piece for piece in pieces]
        first = extract(" ".join(pieces), options).letter
        second = extract(" ".join(others), options).letter
        assert second == (first.translate(table) if first else None)

    @given(
        st.lists(
            st.sampled_from(
                [
                    "bridge",
                    "walks",
                    "under",
                    "77",
                    "quickly",
                    "rain",
                    ",",
                    ".",
                    "!",
                    ";",
                    "\n",
                    "**",
                    "#",
                ]
            )
        )
    )
    def test_without_letters_and_texts_there_is_no_answer(self, words: list[str]) -> None:
        assert extract(" ".join(words), POINTS) == Answer(None, "none")

    @given(
        st.permutations(["red", "dark red", "blue", "green"]), st.sampled_from(["red", "dark red"])
    )
    def test_texts_count_whatever_their_letter(self, order: list[str], said: str) -> None:
        options = lettered(*order)
        assert options[extract(f"The car is {said}.", options).letter or ""] == said


HOSTILE = (
    "( * ` [ ] { $ < <a (A (A) A, **A** \\boxed{ <think> <| _ - # > answer: answer\u00a0is so 答案 是"
    " A\u00a0and no one image\u00a02\u00a0and second\u00a0image if not \" ' \n \n\n \t | . , : ;"
)


@pytest.mark.parametrize("unit", [" ", *HOSTILE.split(" ")])
def test_time_grows_with_length(unit: str) -> None:
    """Ten times the length must not take much more than ten times the time; 100 if quadratic."""

    def seconds(length: int) -> float:
        text = (unit + " ") * (length // (len(unit) + 1))
        start = time.perf_counter()
        extract(text, IMAGES)
        extract(text.replace(" ", ""), POINTS)
        return time.perf_counter() - start

    short = min(seconds(2_000) for _ in range(2))
    assert seconds(20_000) < 40 * short + 0.05


def test_a_long_reply_is_read_to_its_end() -> None:
    text = "Point A is close (A), or is it (B)? Let me see. " * 4_000 + "So the answer is (C)."
    assert extract(text, POINTS) == Answer("C", "declared")
