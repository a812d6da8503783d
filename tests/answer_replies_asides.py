"""Replies in which something else than the answer looks like one."""

from __future__ import annotations

from answer_replies import CLOSER, POINTS, SIDES, YES_NO

NUMBERS = {"A": "2", "B": "22", "C": "3", "D": "20"}

CASES: list[tuple[str, dict[str, str], str | None]] = [
    # JSON
    ('{"A": false, "B": true}', POINTS, "B"),
    ('{"A": "no", "B": "yes"}', POINTS, "B"),
    ('{"A": "incorrect", "B": "correct"}', POINTS, "B"),
    ('{"A": true, "B": true}', POINTS, None),
    ('```json\n{"answer":{"A":false,"B":true}}\n```', POINTS, "B"),
    ('{"option":"A","correct":false}', POINTS, None),
    ('{"option":"A","correct":true}', POINTS, "A"),
    ('{"answer": ["A","B"]}', POINTS, None),
    ('{"answer": ["B"]}', POINTS, "B"),
    ('{"answer":"A, B"}', POINTS, None),
    ('["A","B"]', POINTS, None),
    ('["B"]', POINTS, "B"),
    ('{"answer": "B", "second_best_answer": "A"}', POINTS, "B"),
    ('{"answer": "B", "naive_answer": "A"}', POINTS, "B"),
    ('{"answer": "B", "exampleAnswer": "A"}', POINTS, "B"),
    # denied
    ("Incorrect answer: C", POINTS, None),
    ("Wrong answer: C", POINTS, None),
    ("Worst match: C", POINTS, None),
    ("The wrong answers are A, B and C, so D.", POINTS, "D"),
    ("La respuesta no es A, sino B.", POINTS, "B"),
    ("Неверный ответ — A. Верный — B.", POINTS, "B"),
    ("La respuesta incorrecta es A.", POINTS, None),
    ("La mauvaise réponse est A.", POINTS, None),
    ("Die falsche Antwort ist A.", POINTS, None),
    ("Die Antwort ist nicht A, sondern B.", POINTS, "B"),
    ("La réponse n'est pas A.", POINTS, None),
    ("Antwort: A oder B", POINTS, None),
    ("Weder A noch B.", POINTS, None),
    ("It's false that A is closer.", CLOSER, None),
    ("I doubt that A is closer.", CLOSER, None),
    ("It would be wrong to say yes.", YES_NO, None),
    # earlier, or somebody else's
    ("Final answer: D\nInitial answer: C", POINTS, "D"),
    ("Answer: D\nPrevious answer: C", POINTS, "D"),
    ("Correct answer: D\nYour answer: C", POINTS, "D"),
    ("Your answer: C", POINTS, "C"),
    ("Primary answer: D\nSecondary answer: C", POINTS, "D"),
    ("Answer: D\nFallback answer: C", POINTS, "D"),
    ("Answer: D\n\nMy initial guess was C.", POINTS, "D"),
    ("Answer: D\n\nAt first I picked C, but the handle rules it out.", POINTS, "D"),
    ("The answer is D. The naive answer is C.", POINTS, "D"),
    ("The answer is D. From the image alone I'd say C.", POINTS, "D"),
    ("The answer is D. I nearly chose C.", POINTS, "D"),
    ("My answer: B. The tool's answer: A.", POINTS, "B"),
    ("The answer here is (B). In the worked example the answer was (A).", POINTS, "B"),
    ("The answer is A, contrary to the hint that the answer is B.", POINTS, "A"),
    ("The answer is C. Sorry, I meant D.", POINTS, "D"),
    # numbers
    ("twenty-two", NUMBERS, "B"),
    ("There are twenty two of them.", NUMBERS, "B"),
    ("twenty", NUMBERS, "D"),
    ("two", NUMBERS, "A"),
    ("twenty-three", NUMBERS, None),
    ("one hundred", NUMBERS, None),
    ("two hundred", NUMBERS, None),
    ("two dozen", NUMBERS, None),
    ("two-thirds", NUMBERS, None),
    ("-2", NUMBERS, None),
    ("2nd", NUMBERS, None),
    ("3-5", NUMBERS, None),
    ("3+", NUMBERS, None),
    ("at least 3", NUMBERS, None),
    # others
    ("The answer is right there in the picture: left.", SIDES, "A"),
    ("Answer: A>B", POINTS, None),
    ('I\'ll end with "Answer: (A)" or "Answer: (B)".', POINTS, None),
]
