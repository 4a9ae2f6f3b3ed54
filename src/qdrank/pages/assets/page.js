"use strict";
const page = JSON.parse(document.getElementById("page-data").textContent);
const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// What is packed in an element of the page, as text.
async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function element(tag, text, classes) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (classes) made.className = classes;
  return made;
}

// ---- figures: unpacked when they are seen, the others when nothing else is to be done, or before printing ----

const pictures = new Map();
async function picture(dataset, id) {
  const name = `figure-${dataset}-${id}`;
  if (!pictures.has(name)) {
    const svg = new Blob([await unpack(name)], { type: "image/svg+xml" });
    pictures.set(name, URL.createObjectURL(svg));
  }
  return pictures.get(name);
}

const seen = new IntersectionObserver((entries) => {
  for (const { target } of entries.filter((entry) => entry.isIntersecting)) show(target);
}, { rootMargin: "600px" });
async function show(image) {
  const wanted = image.dataset.dataset;
  const url = await picture(wanted, image.dataset.id);
  if (image.dataset.dataset === wanted) image.src = url;
  image.dataset.shown = wanted;
}
const unseen = all("img[data-id]");
unseen.forEach((image) => seen.observe(image));
const waiting = () => unseen.filter((image) => !image.dataset.shown);
const whenIdle = window.requestIdleCallback || ((work) => setTimeout(work, 200));
async function unpackRest() {
  const [next] = waiting();
  if (!next) return;
  await show(next);
  whenIdle(unpackRest);
}
window.addEventListener("load", () => whenIdle(unpackRest));
window.addEventListener("beforeprint", () => waiting().forEach(show));

for (const button of all("button.more-methods")) {
  button.addEventListener("click", () => {
    for (const rest of all("tbody.rest", button.closest(".best"))) rest.hidden = false;
    button.remove();
  });
}

for (const select of all("select[data-study-of]")) {
  select.addEventListener("change", () => {
    const section = document.getElementById(select.dataset.studyOf);
    for (const link of all("a[data-file]", section)) link.href = `${select.value}/${link.dataset.file}`;
    for (const some of all("[data-only]", section)) some.hidden = !some.dataset.only.split(" ").includes(select.value);
    for (const image of all("img[data-id]", section)) {
      if (image.closest("[hidden]")) continue;
      image.dataset.dataset = select.value;
      if (image.dataset.shown) show(image);
    }
  });
}

// ---- claims: filters, and what a click on a cell shows ----

function filter() {
  const paper = find("#paper").value;
  const purposes = new Set(all("input[data-purpose]").filter((box) => box.checked).map((box) => box.dataset.purpose));
  const shown = new Set();
  for (const row of all("#matrix tr[data-purpose]")) {
    row.hidden = !purposes.has(row.dataset.purpose) || (paper && row.dataset.study !== paper);
    if (!row.hidden) shown.add(row.dataset.study);
  }
  for (const row of all("#matrix tr.head")) row.hidden = !shown.has(row.dataset.study);
}
find("#paper").addEventListener("change", filter);
all("input[data-purpose]").forEach((box) => box.addEventListener("change", filter));
filter();

const dialog = find("#shown");
find("#matrix").addEventListener("click", async (event) => {
  const cell = event.target.closest("button[data-verdict]");
  if (!cell) return;
  const about = page.verdicts[cell.dataset.verdict];
  const body = find("div", dialog);
  body.replaceChildren(
    element("h3", `${about.paper}, ${about.dataset}`), element("p", about.text), element("span", about.verdict, `verdict ${about.kind}`));
  const list = body.appendChild(element("dl"));
  for (const [label, text] of Object.entries(about.detail)) list.append(element("dt", label), element("dd", text));
  const link = body.appendChild(element("p")).appendChild(element("a", "table of all claims on this data set"));
  link.href = about.table;
  dialog.showModal();
  dialog.scrollTop = 0;
  if (about.figure) {
    const image = element("img");
    image.alt = page.figures[about.figure[1]];
    image.src = await picture(...about.figure);
    body.append(element("h4", image.alt), image);
  }
});
find(".close", dialog).addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
