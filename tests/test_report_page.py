"""The page of a report: what is in it, and what a browser makes of it."""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sample_run
from perception_programs.blink.report import build_report, to_html, write
from perception_programs.blink.report_pictures import Album
from perception_programs.blink.samples import Sample, SampleImage
from perception_programs.images import to_pil

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=10000",
    "--dump-dom",
]
browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

# What a test may ask of the page: the samples listed, the one shown, and what lies over what.
DRIVER = """
const listed = () => [...document.querySelectorAll("#list a")].map((a) => a.dataset.key);
const shown = () => document.getElementById("sample").dataset.key ?? null;
// Not decode(), which virtual time does not wait for.
const pictures = () => Promise.all([...document.images].map((image) => image.complete || new Promise(
  (done) => ["load", "error"].forEach((event) => image.addEventListener(event, done)))));
async function at(hash) {
  if (location.hash !== hash) {
    const changed = new Promise((done) => addEventListener("hashchange", done, { once: true }));
    location.hash = hash;
    await changed;
  }
  await pictures();
}
const name = (e) => `${e.tagName}#${e.id}.${e.className}`;
function faults() {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is too wide");
  for (const element of document.body.querySelectorAll("*")) {
    const style = getComputedStyle(element);
    if (style.overflowX === "visible" && style.display !== "inline" && element.clientWidth
        && element.scrollWidth > element.clientWidth + 1) found.push(`${name(element)} spills`);
    const boxes = [...element.children]
      .filter((e) => !["SCRIPT", "OPTION"].includes(e.tagName) && getComputedStyle(e).display !== "inline")
      .map((e) => [e, e.getBoundingClientRect()])
      .filter(([, r]) => r.width && r.height);
    boxes.forEach(([a, p], n) => boxes.slice(n + 1).forEach(([b, q]) => {
      const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (across > 1 && down > 1) found.push(`${name(a)} over ${name(b)}`);
    }));
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    run = sample_run.write_run(folder / "run")
    other = sample_run.write_run(folder / "tiny", model="tiny/<b>model</b>")
    path = folder / "report.html"
    write(build_report([run, other]), path, sample_run.samples())
    return path


def dump(path: Path, address: str, width: int = 1280) -> str:
    """The document after its scripts have run."""
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={path.parent / 'profile'}"]
    command += [f"--window-size={width},2000", f"{path.as_uri()}{address}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def drive(page: Path, script: str, address: str = "", width: int = 1280) -> Any:
    """What a script in a copy of the page returns.

    A window has a least width, so that the page lies in a frame of the width that is asked for.
    """
    copy, frame = page.with_name("copy.html"), page.with_name("frame.html")
    body = f"{DRIVER}(async () => {{ await pictures(); {script} }})().catch(String)"
    send = f"{body}.then((r) => parent.postMessage(JSON.stringify(r), '*'))"
    text = page.read_text("utf-8")
    copy.write_text(text.replace("</body>", f"<script>{send}</script></body>"), "utf-8")
    receive = (
        "addEventListener('message', (e) => document.getElementById('out').textContent = e.data)"
    )
    frame.write_text(
        f'<!doctype html><body><pre id="out"></pre><script>{receive}</script>'
        f'<iframe src="copy.html{html.escape(address)}" width="{width}" height="1500" '
        'style="border:0"></iframe>',
        "utf-8",
    )
    found = re.search(r'<pre id="out">(.*?)</pre>', dump(frame, ""), re.DOTALL)
    assert found and found[1], "the script sent nothing"
    return json.loads(html.unescape(found[1]))


def data_of(text: str) -> dict[str, Any]:
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


class TestText:
    def test_nothing_is_fetched(self, page: Path) -> None:
        text = page.read_text("utf-8")
        addresses = re.findall(r'\b(?:src|href|action|srcset)="([^"]*)"', text)
        assert addresses and all(address.startswith("#") for address in addresses)
        code = re.sub(r'<script type="text/plain".*?</script>', "", text, flags=re.DOTALL)
        for word in (
            "http://",
            "https://",
            "@import",
            "url(",
            "fetch(",
            "XMLHttpRequest",
            "innerHTML",
        ):
            assert word not in code
        assert "default-src 'none'" in text

    def test_answers_cannot_end_the_data(self, page: Path) -> None:
        text = page.read_text("utf-8")
        own = text.count("<script")
        assert own == text.count("</script>") == 2 + text.count('id="picture-')
        assert "owned" in text and "onerror" in text  # it is there, as data
        assert "<img" not in text and "<b>model" not in text

    def test_each_picture_is_there_once(self, page: Path) -> None:
        text = page.read_text("utf-8")
        # 8 jigsaws of three pictures and 4 pictures with points; the drawings of the programs of 7
        # and 4 records, which both models share.
        assert text.count("data:image/jpeg;base64,") == 8 * 3 + 4 + 7 + 4
        records = data_of(text)["records"]
        assert len(records) == 2 * (8 + 8 + 4 + 4)
        drawn = [r["programs"][0]["drawing"] for r in records if r.get("programs")]
        assert len(drawn) == 22 and len(set(drawn)) == 11

    def test_pictures_are_small(self, tmp_path: Path) -> None:
        large = SampleImage(sample_run.picture(1, 1600, 900), "large.png")
        sample = Sample("one", "Jigsaw", "?", ("a", "b"), (large,), "A")
        album = Album({"Jigsaw": [sample]})
        assert album.question("Jigsaw", "one") == [("image", 0)]
        assert album.question("Jigsaw", "other") == []
        data = base64.b64decode(album.addresses[0].partition(",")[2])
        assert to_pil(data).size == (512, 288)

    def test_a_picture_that_cannot_be_read_says_why(self, tmp_path: Path) -> None:
        run = sample_run.write_run(tmp_path / "run")
        broken = SampleImage(b"not a picture", "broken.png")
        sample = sample_run.samples()["HardBLINK"][0]
        questions = {
            "HardBLINK": [Sample(sample.id, "HardBLINK", "?", sample.choices, (broken,), "B")]
        }
        records = data_of(to_html(build_report([run]), questions))["records"]
        (one,) = [r for r in records if r["id"] == sample.id and r.get("programs")]
        assert "broken.png" in one["pictures"][0][1]
        assert "broken.png" in one["programs"][0]["drawing"]

    def test_without_questions_there_are_no_pictures(self, page: Path, tmp_path: Path) -> None:
        text = to_html(build_report([sample_run.write_run(tmp_path / "run")]))
        assert "data:image" not in text
        assert data_of(text)["withPictures"] is False

    def test_it_can_be_written_whatever_a_model_wrote(self, tmp_path: Path) -> None:
        run = sample_run.write_run(tmp_path / "run")
        path = run / "Jigsaw.p2.jsonl"
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        rows[1]["raw"] = "half \ud83d of a pair, \u2028 and \x00"
        sample_run.write_lines(path, rows)
        write(build_report([run]), tmp_path / "report.html")
        texts = data_of((tmp_path / "report.html").read_text("utf-8"))["texts"]
        assert "half \\ud83d of a pair, \\u2028 and \\u0000" in texts


@browser
def test_an_address_chooses_samples(page: Path) -> None:
    document = dump(page, "#model=openai%2Fgpt-5-mini&task=Jigsaw&setting=standard&outcome=wrong")
    ids = re.findall(r'<a href="[^"]*" data-key="\d+:([^"]*)"', document)
    assert ids == ["val_Jigsaw_2", "val_Jigsaw_3", "val_Jigsaw_4"]
    assert '<p id="count" class="facts" role="status">3 of 48</p>' in document
    assert "<title>BLINK report</title>" in document


@browser
@pytest.mark.slow
class TestBrowser:
    def test_filters(self, page: Path) -> None:
        records = data_of(page.read_text("utf-8"))
        wanted = {
            "#task=Jigsaw&outcome=error": lambda r, run: (
                run["task"] == "Jigsaw" and r["outcome"] == "error"
            ),
            "#setting=p2": lambda r, run: run["setting"] == "p2",
            "#group=4+points&outcome=unanswered": lambda r, run: r["outcome"] == "unanswered",
            "#outcome=unparsed&model=tiny%2F%3Cb%3Emodel%3C%2Fb%3E": lambda r, run: (
                r["outcome"] == "unparsed" and run["model"].startswith("tiny")
            ),
            "#text=I+LOOKED+AT+VAL_JIGSAW_3": lambda r, run: r["id"] == "val_Jigsaw_3",
            "#text=hardblink_2": lambda r, run: r["id"] == "hardblink_2",
            "#text=nowhere": lambda r, run: False,
            "#task=Chess": lambda r, run: False,
            "#": lambda r, run: True,
        }
        script = f"""
        const found = {{}};
        for (const hash of {json.dumps(list(wanted))}) {{
          await at(hash);
          found[hash] = [listed(), shown(), document.getElementById("filters").elements.task.value];
        }}
        return found;"""
        found = drive(page, script, "#start=1")
        for address, test in wanted.items():
            keys = [
                f"{r['run']}:{r['id']}"
                for r in records["records"]
                if test(r, records["runs"][r["run"]])
            ]
            assert (len(keys) > 0) == ("nowhere" not in address and "Chess" not in address)
            listed, shown, task = found[address]
            assert listed == keys
            assert shown == (keys[0] if keys else None)
            assert task == (
                "Jigsaw" if "Jigsaw&" in address else "Chess" if "Chess" in address else ""
            )

    def test_controls_and_keys(self, page: Path) -> None:
        script = """
        const form = document.getElementById("filters");
        const set = (name, value) => {
          form.elements[name].value = value;
          form.elements[name].dispatchEvent(new Event("change", { bubbles: true }));
        };
        set("task", "HardBLINK"); set("outcome", "wrong");
        const filtered = [location.hash, listed()];
        form.elements.text.value = "hardblink_4";
        form.elements.text.dispatchEvent(new Event("input"));
        await new Promise((done) => setTimeout(done, 400));
        const searched = listed();
        form.querySelector("button").click();
        const button = form.querySelector("button").textContent;
        const reset = [listed().length, location.hash, form.elements.text.value];
        document.querySelector("#list a").focus();
        const press = (key) => document.activeElement.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        press("ArrowDown"); press("ArrowDown"); press("ArrowUp");
        const arrows = [shown(), document.activeElement.dataset.key];
        document.querySelectorAll("#list a")[4].click();
        return { filtered, searched, button, reset, arrows, clicked: shown() };"""
        found = drive(page, script)
        listed = data_of(page.read_text("utf-8"))["records"]
        keys = [f"{r['run']}:{r['id']}" for r in listed]
        assert found["filtered"][0] == "#task=HardBLINK&outcome=wrong"
        assert [key.partition(":")[2] for key in found["filtered"][1]] == [
            *("hardblink_2", "hardblink_4"),
            *("hardblink_2", "hardblink_4"),
        ]
        assert [key.partition(":")[2] for key in found["searched"]] == ["hardblink_4"] * 2
        assert found["button"] == "reset filters"
        assert found["reset"] == [48, "#", ""] or found["reset"] == [48, "", ""]
        assert found["arrows"] == [keys[1], keys[1]]
        assert found["clicked"] == keys[4]

    def test_what_is_shown(self, page: Path) -> None:
        script = """
        const text = (css) => [...document.querySelectorAll(css)].map((e) => e.textContent);
        const sample = document.getElementById("sample");
        return {
          heads: text("#sample h4"), pres: text("#sample pre"), options: text("#sample .options li"),
          others: text("#sample .others li"), links: [...sample.querySelectorAll(".others a")].map((a) => a.getAttribute("href")),
          images: [...sample.querySelectorAll("img")].map((i) => [i.alt, i.naturalWidth]),
          title: document.title, stray: document.querySelectorAll("#sample img[onerror], #sample b").length,
        };"""
        found = drive(page, script, "#setting=p2&outcome=unparsed&task=Jigsaw")
        assert found["heads"] == ["Answer", "Program", "Prompt"]
        answer, program, system, user = found["pres"]
        assert answer == sample_run.HOSTILE.replace("\u202e", "\\u202e")
        assert program.startswith("<perceptionprogram>") and program in user
        assert system == "Be brief." and user.startswith("[image: 1.png]")
        assert found["options"][0] == "(A) the second image ← right"
        assert [name for name, _ in found["images"]] == [
            *("image 1", "image 2", "image 3"),
            "Evidence, drawn",
        ]
        assert all(width > 50 for _, width in found["images"])
        assert len(found["others"]) == 3 and "standard unparsed" in found["others"][0]
        assert "setting=p2" not in found["links"][0] and "task=Jigsaw" in found["links"][0]
        assert (found["title"], found["stray"]) == ("BLINK report", 0)

    def test_a_filter_without_values_is_not_shown(self, tmp_path: Path) -> None:
        run = sample_run.write_run(tmp_path / "run")
        for path in run.glob("HardBLINK.*"):
            path.unlink()
        page = tmp_path / "report.html"
        write(build_report([run]), page)
        script = """
        return [...document.querySelectorAll("#filters label")].filter((e) => e.offsetParent === null)
          .map((e) => e.control.name);"""
        assert drive(page, script) == ["group"]

    def test_nothing_found_is_said(self, page: Path, tmp_path: Path) -> None:
        script = "return document.getElementById('sample').innerText;"
        assert drive(page, script, "#text=nowhere") == "No sample matches the filters."
        run = sample_run.write_run(tmp_path / "run")
        for path in run.glob("*.jsonl"):
            head = [] if "errors" in path.name else path.read_bytes().splitlines(keepends=True)[:1]
            path.write_bytes(b"".join(head))
        empty = tmp_path / "report.html"
        write(build_report([run]), empty)
        assert drive(empty, script) == "No sample has been asked yet."

    def test_an_address_with_a_choice_opens_at_the_samples(self, page: Path) -> None:
        script = "return document.getElementById('samples').getBoundingClientRect().top;"
        assert abs(drive(page, script, "#setting=p2")) < 2
        assert drive(page, script) > 500

    @pytest.mark.parametrize(("width", "narrowest"), [(1280, 400), (500, 400)])
    def test_columns_are_wide_enough_to_read(self, page: Path, width: int, narrowest: int) -> None:
        script = """
        const width = (e) => e.getBoundingClientRect().width;
        return {
          columns: [...document.querySelectorAll(".columns > section")].map(width),
          drawing: width(document.querySelector("figure.wide img")),
          lines: Math.max(...[...document.querySelectorAll("td small span")].map((e) => e.getClientRects().length)),
        };"""
        found = drive(page, script, "#task=Jigsaw&setting=p2", width)
        assert len(found["columns"]) == 3 and min(found["columns"]) > narrowest
        assert found["drawing"] > 639
        assert found["lines"] == 1

    @pytest.mark.parametrize("width", [1280, 900, 400])
    def test_nothing_overlaps(self, page: Path, width: int) -> None:
        script = """
        const found = {};
        for (const hash of ["#task=Jigsaw&setting=p2", "#task=HardBLINK&setting=p2", "#outcome=error",
                            "#outcome=unparsed", "#text=nowhere"]) {
          await at(hash);
          found[hash] = faults();
        }
        return { found, width: innerWidth };"""
        result = drive(page, script, "", width)
        assert result["width"] == width
        assert {key: faults for key, faults in result["found"].items() if faults} == {}

    def test_the_check_for_overlaps_finds_some(self, page: Path) -> None:
        script = """
        await at("#task=Jigsaw&setting=p2");
        document.querySelector(".columns section:nth-child(2)").style.marginRight = "-60px";
        document.querySelector("#sample h3").style.cssText = "width:40px;white-space:nowrap";
        return faults();"""
        faults = drive(page, script)
        assert any("over" in fault for fault in faults) and any("spills" in f for f in faults)

    def test_many_samples(self, tmp_path: Path) -> None:
        run = sample_run.write_run(tmp_path / "run")
        path = run / "Jigsaw.p2.jsonl"
        head, first, *_ = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        rows = [first | {"id": f"val_Jigsaw_{n}"} for n in range(1, 2001)]
        sample_run.write_lines(path, [head, *rows])
        (run / "Jigsaw.p2.errors.jsonl").unlink()
        page = tmp_path / "report.html"
        write(build_report([run]), page)
        script = """
        await at("#setting=p2&task=Jigsaw");
        const start = [listed().length, document.getElementById("page").textContent];
        document.getElementById("after").click();
        const later = [listed()[0], shown(), document.getElementById("page").textContent];
        const nodes = document.querySelectorAll("*").length;
        const run = shown().split(":")[0];
        await at(`#setting=p2&task=Jigsaw&show=${run}:val_Jigsaw_1950`);
        return { start, later, nodes, linked: [shown(), document.getElementById("page").textContent] };"""
        found = drive(page, script)
        assert found["start"] == [100, "1 to 100"]
        key = found["later"][0]
        assert key.endswith(":val_Jigsaw_101") and found["later"] == [key, key, "101 to 200"]
        assert found["linked"] == [key.replace("_101", "_1950"), "1901 to 2000"]
        assert found["nodes"] < 2500
