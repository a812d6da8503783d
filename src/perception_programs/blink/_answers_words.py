"""The words that matter in a reply: what declares, what concludes, what denies."""

from __future__ import annotations

__all__ = [
    "ANSWER",
    "ANSWER_WORDS",
    "ARTICLES",
    "AUXILIARIES",
    "BREAKS",
    "CHOOSE",
    "CLAIMS",
    "CONCEDED",
    "CONCLUDING",
    "CONTRAST",
    "COPULAS",
    "CORRECTED_AFTER",
    "CORRECTING",
    "DENIALS",
    "DENIED_AFTER",
    "DENIED_BEFORE",
    "FAULTY",
    "FILLERS",
    "FITTING",
    "FLAWS",
    "FOLLOWS_A_LETTER",
    "GIVEN",
    "GUESSING",
    "HYPOTHETICAL",
    "IN_LISTS",
    "JOINTS",
    "LABELS",
    "LEADING_IN",
    "MAYBE",
    "MULTIPLES",
    "NOT_COUNTED",
    "NOT_COUNTING",
    "NOT_THERE",
    "NUMBERS",
    "OPTION",
    "ORDINALS",
    "PICTURES",
    "POLES",
    "PREFER",
    "REASONS",
    "REFUSALS",
    "REFUTED",
    "RUNNERS_UP",
    "SIDES",
    "SPEAKERS",
    "STRONG_CLAIMS",
    "TENS",
    "THEREFORE",
    "TRANSLATIONS",
    "is_superlative",
]

_NOT_SUPERLATIVE = frozenset(
    {"test", "rest", "west", "interest", "suggest", "forest", "request", "guest", "chest"}
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = _words("a an the")

ANSWER = _words(
    "answer answers ans solution verdict respuesta réponse antwort lösung risposta resposta ответ"
    " jawaban jawabannya cevap odpowiedź odpověď antwoord svar svaret vastaus απάντηση"
)
"""Nouns that announce an answer by themselves."""

OPTION = _words(
    "option choice selection pick one response prediction conclusion alternative candidate guess"
    " opción opzione opção auswahl choix вариант letter assessment judgment judgement"
)
"""Nouns that announce one only with an adjective of `FITTING` before, or a colon after."""

FITTING = _words(
    "correct right best final proper true appropriate suitable likely closest nearest matching"
    " corresponding missing accurate better plausible similar my our chosen"
    " correcta correcto correcte richtige richtig corretta correta juste bonne goede правильный"
)
"""Adjectives that say of something that it is what was asked for."""

FAULTY = _words(
    "incorrect wrong other false remaining first second third fourth alternative another next least"
    " worst poorer weaker weakest unlikely tempting"
)
"""Adjectives before an announcing noun that make it announce something else."""

RUNNERS_UP = _words("second third fourth fifth nd rd next another other")
"""Words before `best`, `closest` and the like that make them those of another place."""

COPULAS = _words(
    "is was be becomes equals remains es est ist lautet wäre è é foi adalah jest är είναι это là"
)

AUXILIARIES = _words("would should must will may might could can appears seems looks")

CHOOSE = _words(
    "choose chose chosen select selected pick picked choosing selecting picking elijo escojo"
    " choisis wähle scelgo escolho выбираю prefer favor favour"
)

PREFER = _words("prefer preferred preferable preferring favor favour superior")
"""Words after which `to` leads to what is not meant."""

FILLERS = _words(
    "the an that likely probably most clearly definitely indeed simply just therefore thus so hence"
    " either both option choice answer letter labeled labelled label marked point image box picture"
    " figure number candidate panel piece as to be it's it is final correct opción opzione opção"
    " la el le die der choices options best i'd would only"
)
"""Words that may stand between an announcement and what it announces."""

LABELS = _words(
    "option choice answer letter point box picture image figure candidate panel piece patch region"
    " labeled labelled label marked choose select pick alternative photo photograph painting"
    " position location circle dot opción opzione opção вариант points boxes options choices images"
    " punto punkt ponto точка caja cuadro boîte kasten imagen bild immagine imagem"
)
"""Words after which a single capital is an option's letter."""

FOLLOWS_A_LETTER = _words(
    "is was are has have as because since due which and or with appears seems looks would more most"
    " better best matches corresponds correspond fits shows does doesn't isn't clearly"
    " accurately closely also nor but than in on at from to for the it this that based given"
    " provides encloses localizes represents should could must can cannot will may might not"
    " over instead whereas although though if unless where está es est ist è é"
)
"""Words that follow the letter A and not the article."""

DENIALS = _words("not never neither nor none no cannot without nothing unable")

DENIED_BEFORE = _words(
    "not never neither nor than unlike except excluding without cannot eliminate eliminates"
    " eliminating reject rejecting exclude discard versus vs opposed instead rather other others"
    " dismiss dismissing discarding"
)

REFUTED = _words("not never cannot incorrect wrong eliminated")

DENIED_AFTER = _words(
    "not never cannot incorrect wrong unlikely less fails lacks excluded eliminated ruled discarded"
    " false invalid worse neither different differs too only partially"
)

FLAWS = _words(
    "seam seams mismatch mismatches mismatched gap gaps discontinuity discontinuous inconsistent"
    " misaligned misalignment clash clashes"
)
"""What is wrong with an option, where nothing before says that there is none of it."""

POLES = {
    "closer": "near", "closest": "near", "nearer": "near", "nearest": "near",
    "farther": "far", "farthest": "far", "further": "far", "furthest": "far",
    "far": "far", "distant": "far", "remote": "far", "deeper": "far",
    "darker": "dark", "darkest": "dark",
    "lighter": "light", "lightest": "light", "brighter": "light", "brightest": "light",
    "reflective": "light", "paler": "light",
}  # fmt: skip
"""What may be asked for, and its opposite."""

CONTRAST = _words(
    "while whereas although though unlike compared than rather instead opposed contrast despite"
)
"""Words after which a sentence speaks of what was not meant."""

GIVEN = _words("since because as given when")
"""Words that lead a sentence whose point comes after its reason."""

THEREFORE = _words("therefore thus hence consequently accordingly")
"""Words after which a sentence makes its point."""

CONCLUDING = THEREFORE | _words("so conclusion conclude believe assessment judge")
"""Words of a sentence that concludes."""

LEADING_IN = _words("based given overall altogether ultimately finally summary")
"""Words that conclude only where they start a sentence."""

STRONG_CLAIMS = _words("most best closest nearest")

CLAIMS = _words(
    "more most best better closer closest nearest nearer darker darkest lighter same similar"
    " corresponds correspond corresponding match matches matching fits fit missing completes complete"
    " likely appropriate answer resemblance moving moved resembles aligns shares analogous"
    " continues continue belongs higher highest moves pans panned panning"
)
"""Words of a sentence that answers a question of comparison."""

JOINTS = _words("and or nor / & to through y et und oder ou vs versus")
"""Words that join the options of a list."""

IN_LISTS = _words(
    "the an option choice answer point points image box boxes picture number and maybe perhaps possibly"
)
"""Words between the options of a list: `point A or the point B`."""

NOT_THERE = _words("possible given listed available provided among present in shown determinable")
"""Words after `the answer is not` that say that there is none."""

NOT_COUNTED = _words("of another side hand who by way can may only")
NOT_COUNTING = _words("the this that which each any every another same other last only no first")
"""Words after and before a `one` that counts nothing."""

REFUSALS = _words("apologize apologise sorry unfortunately comfortable unable assist")
"""Words of a first sentence that refuses to answer."""

HYPOTHETICAL = _words("if whether suppose supposing assume assuming unless otherwise")

SPEAKERS = _words("i we you one i'm we're someone")
GUESSING = _words(
    "guess guessing choose choosing pick select decide commit must forced pressed pushed asked ask"
    " required anything necessary needed mistaken so say answer"
)
"""Words after `if` that suppose nothing: `if I had to guess`, `if pressed`."""

MAYBE = _words(
    "could might may thought considered initially tempted tempting possible plausible easy mistake"
    " mistaken trap some someone somebody people wäre würde sería serait seria sarebbe"
)
"""Words of a declaration that gives way to one without them."""

CONCEDED = _words("also too plausible possible tempting conceivable defensible reasonable")
"""Words that say of an option that it is another good one."""

BREAKS = THEREFORE | _words(", ; : but so because since whereas while though although then")
"""Where a clause ends."""

REASONS = _words("because since as for due given if although though but whereas while and with")
"""Words that go on after a letter that is an answer by itself."""

CORRECTING = _words("wait actually hmm hold reflection correction sorry oops scratch no")
"""Words at the start of a clause after which another answer takes the place of the one before."""

CORRECTED_AFTER = _words(", ; - – — … but or oh no on wait actually")
"""Words before one of them that it may follow."""

PICTURES = _words(
    "image images picture pictures photo photos photograph photographs painting paintings artwork"
)

ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6}

NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
"""Small numbers in words."""

TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip

MULTIPLES = _words(
    "hundred hundreds thousand thousands million dozen dozens half halves third thirds quarter"
    " quarters fourth fourths fifth fifths percent"
)
"""Words after a number that make it another one."""

SIDES = {
    "left": r"(?<!从右)[向往朝]左|左(?:边|邊|侧|側|方)|왼쪽|\b(?:left-?wards?|izquierda|gauche|sinistra|esquerda|влево|налево)\b"
    r"|\bnach links\b",
    "right": r"(?<!从左)[向往朝]右|右(?:边|邊|侧|側|方)|오른쪽|\b(?:right-?wards?|derecha|droite|destra|direita|вправо|направо)\b"
    r"|\bnach rechts\b",
}
"""Ways to say the two options of a question of sides."""

ANSWER_WORDS = {
    "左": "left", "左边": "left", "左侧": "left", "왼쪽": "left", "izquierda": "left",
    "右": "right", "右边": "right", "右侧": "right", "오른쪽": "right", "derecha": "right",
    "是": "yes", "是的": "yes", "はい": "yes", "예": "yes", "네": "yes", "sí": "yes", "oui": "yes",
    "ja": "yes", "да": "yes", "sim": "yes", "sì": "yes", "否": "no", "不": "no", "不是": "no",
    "いいえ": "no", "아니요": "no", "non": "no", "nein": "no", "нет": "no", "não": "no", "nee": "no",
}  # fmt: skip
"""Whole replies in other languages, or their first words, that are an option in English."""

TRANSLATIONS = (
    (r"(?:错误|不正确|不对)的?(?:答案|选项)?(?:应该|应当|应)?(?:是|为)(?=[^的]|$)", "wrong answer is"),
    (r"错误的?(?:答案|选项)|不正确的(?:答案|选项)", "wrong answer"),
    (r"(?:正确|對|对)的(?:答案|选项)?(?:应该|应当|应)?(?:是|为)", "correct answer is"),
    (r"第一(?:张|張|幅)(?:图片|圖片|图像|图|圖|照片)", "the first image"),
    (r"第二(?:张|張|幅)(?:图片|圖片|图像|图|圖|照片)", "the second image"),
    (r"第三(?:张|張|幅)(?:图片|圖片|图像|图|圖|照片)", "the third image"),
    (r"第四(?:张|張|幅)(?:图片|圖片|图像|图|圖|照片)", "the fourth image"),
    (r"\b(?:première image|primera imagen|prima immagine|primeira imagem|erste[ns]? bild)\b", "the first image"),
    (r"\b(?:deuxième image|segunda imagen|seconda immagine|segunda imagem|zweite[ns]? bild)\b", "the second image"),
    (r"\b(?:troisième image|tercera imagen|terza immagine|terceira imagem|dritte[ns]? bild)\b", "the third image"),
    (r"\b(?:quatrième image|cuarta imagen|quarta immagine|quarta imagem|vierte[ns]? bild)\b", "the fourth image"),
    (r"\brespuesta (?:incorrecta|equivocada|errónea)\b|\bmauvaise réponse\b", "wrong answer"),
    (r"\bréponse (?:incorrecte|fausse|erronée)\b|\bfalsche antwort\b", "wrong answer"),
    (r"\brisposta (?:sbagliata|errata)\b|\bresposta (?:errada|incorreta)\b", "wrong answer"),
    (r"\b(?:неверный|неправильный)(?: ответ)?\b", "wrong answer"),
    (r"\b(?:верный|правильный)(?: ответ)?\b", "correct answer"),
    (r"\bno es\b|\bn['’]est pas\b|\bist nicht\b|\bnon è\b|\bnão é\b", "is not"),
    (r"\bsino\b|\bsondern\b|\bmais\b", "but"),
    (r"不(?:匹配|符合|吻合|合适)", "is not correct"),
    (r"\bне\b|\bnicht\b|\bpas\b", "not"),
    (r"\bweder\b", "neither"),
    (r"\bnoch\b", "nor"),
    (r"\boder\b", "or"),
    (r"答案不(?:是|为|選|选)|不(?:选|選)", "not"),
    (r"而(?:应该|应当|应)?是", "but"),
    (r"不是(?=\s*[(（]?[A-Z])", "is not"),
    (r"(?:是|为|為)?不正确的?|(?:是|为)?错误的?", "is incorrect"),
    (r"(?:答案|选项|選項|解答|回答|答え|正解|選択肢)(?:应该|应当|應該|应|應|就|便)?(?:是|为|為|选|選|は|が)", "answer is"),
    (r"(?:认为|觉得|認為|覺得)(?:应该|應該)?(?:是|选|選)", "answer is"),
    (r"答案|答え|正解", "answer"),
    (r"选项|選項|選択肢", "option"),
    (r"(?:选择|選擇|选|選)", "choose"),
    (r"(?:是|为|為)(?:最)?(?:正确|合适|佳)(?:的)?(?:答案)?", "is correct"),
    (r"정답(?:은|는)?|답(?:은|는)", "answer is"),
    (r"đáp án(?: đúng)?", "answer"),
    (r"(?:الإجابة|الجواب)(?: الصحيحة| الصحيح)?(?: هي| هو)?", "answer is"),
    (r"(?:सही )?उत्तर", "answer"),
    (r"因此|所以|故", "therefore"),
    (r"[和与與]", "and"),
    (r"[或]者?", "or"),
)  # fmt: skip
"""Phrases in languages that don't part words, or say it in several, and the English for them."""


def is_superlative(word: str) -> bool:
    """Whether a word in lower case is one such as `closest`."""
    return len(word) > 4 and word.endswith("est") and word not in _NOT_SUPERLATIVE
