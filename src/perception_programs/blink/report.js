"use strict";
(() => {
  const PAGE = 100; // samples listed at a time
  const FILTERS = ["model", "task", "setting", "group", "outcome"];
  const data = JSON.parse(document.getElementById("data").textContent);
  const records = data.records;
  const byId = (id) => document.getElementById(id);
  const form = byId("filters");

  const value = (record, name) =>
    name === "group" || name === "outcome" ? record[name] : data.runs[record.run][name];
  const keyOf = (record) => `${record.run}:${record.id}`;
  const sameQuestion = (record) => `${data.runs[record.run].task}/${record.id}`;

  const siblings = new Map();
  for (const record of records) {
    const key = sameQuestion(record);
    siblings.set(key, [...(siblings.get(key) || []), record]);
  }

  // The address is the only state: filters write it, and the page shows what it says.
  let state = {};
  let found = [];

  function read() {
    const query = new URLSearchParams(location.hash.slice(1));
    state = {};
    for (const name of [...FILTERS, "text", "show"]) state[name] = query.get(name) || "";
  }

  function hash(changes) {
    const query = new URLSearchParams();
    for (const [name, text] of Object.entries({ ...state, ...changes })) {
      if (text) query.set(name, text);
    }
    return `#${query}`;
  }

  function go(changes) {
    history.replaceState(null, "", hash(changes));
    update();
  }

  // Text is searched once in each different text, not once in each sample.
  const lower = data.texts.map(() => null);
  function matching(text) {
    const needle = text.toLowerCase();
    const hits = data.texts.map((words, n) => (lower[n] ??= words.toLowerCase()).includes(needle));
    return (record) =>
      record.id.toLowerCase().includes(needle) ||
      hits[record.raw] ||
      Object.values(record.options || {}).some((n) => hits[n]) ||
      (record.prompt || []).some((turn) => turn.parts.some(([, n]) => hits[n])) ||
      (record.programs || []).some((program) => hits[program.text]);
  }

  function select() {
    const wanted = FILTERS.filter((name) => state[name]);
    const says = state.text ? matching(state.text) : () => true;
    found = records.filter(
      (record) => wanted.every((name) => value(record, name) === state[name]) && says(record),
    );
  }

  function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, text] of Object.entries(attributes)) {
      if (text !== null && text !== undefined) node.setAttribute(name, text);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  function fillFilters() {
    for (const name of FILTERS) {
      const options = [...new Set(records.map((record) => value(record, name)))].filter(Boolean);
      if (name === "outcome") options.sort((a, b) => data.outcomes.indexOf(a) - data.outcomes.indexOf(b));
      if (name === "group") options.sort(new Intl.Collator("en", { numeric: true }).compare);
      // What an address asks for stays to be seen, though no sample is so.
      if (state[name] && !options.includes(state[name])) options.push(state[name]);
      const select = form.elements[name];
      select.replaceChildren(
        element("option", { value: "" }, "all"),
        ...options.map((option) => element("option", { value: option }, option.replaceAll("_", " "))),
      );
      select.value = state[name];
      select.parentElement.hidden = !options.length;
    }
    if (form.elements.text.value !== state.text) form.elements.text.value = state.text;
  }

  function badge(record) {
    return element("span", { class: `outcome ${record.outcome}` }, record.outcome);
  }

  function verdict(record) {
    if (record.outcome === "error") return "no answer";
    const told = record.answer === null || record.outcome === "right";
    return `${record.parsed ?? "none"}${told ? "" : `, right is ${record.answer}`}`;
  }

  function row(record, current) {
    const run = data.runs[record.run];
    return element(
      "li",
      {},
      element(
        "a",
        { href: hash({ show: keyOf(record) }), "data-key": keyOf(record), "aria-current": current ? "true" : null },
        record.id,
        " ",
        badge(record),
        element("small", {}, `${run.model} · ${run.setting} · `, element("span", {}, verdict(record))),
      ),
    );
  }

  function figure(caption, picture, drawing = false) {
    let content;
    if (typeof picture === "number") {
      content = element("img", { src: byId(`picture-${picture}`).textContent, alt: caption });
      // A drawing of several pictures side by side takes the whole width.
      content.addEventListener("load", () => {
        const wide = drawing && content.naturalWidth > 1.5 * content.naturalHeight;
        content.parentElement.classList.toggle("wide", wide);
      });
    } else {
      content = element("p", { class: "missing" }, picture);
    }
    return element("figure", {}, content, element("figcaption", {}, caption));
  }

  function pictures(record) {
    const drawings = (record.programs || []).filter((program) => program.drawing !== null);
    const figures = [
      ...record.pictures.map(([caption, picture]) => figure(caption, picture)),
      ...(record.tools || []).map(([caption, picture]) => figure(data.texts[caption], picture, true)),
      ...drawings.map((program) => figure(`${program.title}, drawn`, program.drawing, true)),
    ];
    if (figures.length) return element("div", { class: "pictures" }, ...figures);
    const why = data.withPictures
      ? "The pictures of this sample were not given to the report."
      : "Pictures are not available: the report was made without the questions.";
    return element("p", { class: "missing" }, why);
  }

  function text(words, label) {
    return element("pre", { tabindex: "0", role: "region", "aria-label": label }, words || " ");
  }

  function column(title, ...children) {
    return element("section", {}, element("h4", {}, title), ...children);
  }

  function answerColumn(record) {
    const failed = record.outcome === "error";
    const read = failed ? null : element("h5", {}, `read as ${record.parsed ?? "no option"} (${record.how})`);
    const title = failed ? "Error" : "Answer";
    const facts = element("p", { class: "facts" }, record.facts.join(" · "));
    return column(title, read, text(data.texts[record.raw], title), facts);
  }

  function programColumn(record) {
    if (!(record.programs || []).length) return null;
    const parts = record.programs.flatMap((program) => [
      element("h5", {}, program.title),
      text(data.texts[program.text], program.title),
    ]);
    return column("Program", ...parts);
  }

  function promptColumn(record) {
    if (!record.prompt) return null;
    const parts = record.prompt.flatMap((turn) => {
      const words = turn.parts.map(([kind, n]) =>
        kind === "picture" ? `[image: ${data.texts[n]}]` : data.texts[n],
      );
      return [element("h5", {}, turn.role), text(words.join("\n\n"), `Prompt, ${turn.role}`)];
    });
    return column("Prompt", ...parts);
  }

  function question(record) {
    if (record.asked === null || !data.texts[record.asked]) return null;
    return element("p", { class: "question" }, data.texts[record.asked]);
  }

  function options(record) {
    if (!record.options) return null;
    const items = Object.entries(record.options).map(([letter, n]) => {
      const marks = [];
      if (letter === record.answer) marks.push("right");
      if (letter === record.parsed) marks.push("the model's");
      const note = marks.length ? ` ← ${marks.join(", ")}` : "";
      return element("li", {}, `(${letter}) ${data.texts[n]}`, element("strong", {}, note));
    });
    return element("ul", { class: "options" }, ...items);
  }

  function others(record) {
    const links = siblings.get(sameQuestion(record)).filter((other) => other !== record);
    if (!links.length) return null;
    const items = links.map((other) => {
      // Filters that would hide the other one are left out of its address.
      const kept = Object.fromEntries(FILTERS.map((name) => [name, state[name] === value(other, name) ? state[name] : ""]));
      const run = data.runs[other.run];
      const link = element("a", { href: hash({ ...kept, text: "", show: keyOf(other) }) }, `${run.model} · ${run.setting}`);
      return element("li", {}, link, " ", badge(other));
    });
    return element("ul", { class: "others", "aria-label": "The same question elsewhere" }, ...items);
  }

  function show(record) {
    const place = byId("sample");
    if (!record) {
      const why = records.length
        ? "No sample matches the filters."
        : "No sample has been asked yet.";
      place.replaceChildren(element("p", { class: "missing" }, why));
      place.removeAttribute("data-key");
      return;
    }
    const run = data.runs[record.run];
    const facts = [run.model, run.task.replaceAll("_", " "), run.setting, record.group].filter(Boolean);
    place.dataset.key = keyOf(record);
    place.replaceChildren(
      element("h3", {}, record.id, " ", badge(record)),
      element("p", { class: "facts" }, facts.join(" · ")),
      ...[others(record), question(record), options(record)].filter(Boolean),
      pictures(record),
      element(
        "div",
        { class: "columns" },
        ...[answerColumn(record), programColumn(record), promptColumn(record)].filter(Boolean),
      ),
    );
  }

  function update() {
    read();
    fillFilters();
    select();
    const at = Math.max(0, found.findIndex((record) => keyOf(record) === state.show));
    list(Math.floor(at / PAGE), at);
    show(found[at]);
  }

  function list(page, at) {
    const start = page * PAGE;
    const shown = found.slice(start, start + PAGE);
    byId("list").replaceChildren(...shown.map((record, n) => row(record, start + n === at)));
    byId("list").start = start + 1;
    byId("count").textContent = `${found.length} of ${records.length}`;
    const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
    byId("page").textContent = last ? `${start + 1} to ${start + shown.length}` : "";
    for (const [id, step] of [["before", -1], ["after", 1]]) {
      const target = page + step;
      byId(id).disabled = target < 0 || target > last;
      byId(id).hidden = !last;
      byId(id).onclick = () => go({ show: keyOf(found[target * PAGE]) });
    }
    const current = byId("list").querySelector("[aria-current]");
    if (current) byId("list").scrollTop = Math.max(0, current.offsetTop - byId("list").offsetTop - 60);
  }

  form.addEventListener("change", (event) => {
    if (event.target.name !== "text") go({ [event.target.name]: event.target.value, show: "" });
  });
  let waiting = 0;
  form.elements.text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => go({ text: form.elements.text.value, show: "" }), 200);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    go(Object.fromEntries(Object.keys(state).map((name) => [name, ""])));
  });

  // Arrows go through the list and show what they come to.
  byId("list").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const key = event.target.closest("a")?.dataset.key;
    const next = step && found[found.findIndex((record) => keyOf(record) === key) + step];
    if (!next) return;
    event.preventDefault();
    go({ show: keyOf(next) });
    byId("list").querySelector("[aria-current]").focus();
  });
  byId("list").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go({ show: link.dataset.key });
    byId("list").querySelector("[aria-current]").focus({ preventScroll: true });
  });

  window.addEventListener("hashchange", () => {
    if (location.hash.length > 1 && !location.hash.includes("=")) return; // a section of the page
    update();
    byId("samples").scrollIntoView();
  });
  update();
  if (location.hash.includes("=")) byId("samples").scrollIntoView({ behavior: "instant" });
})();
