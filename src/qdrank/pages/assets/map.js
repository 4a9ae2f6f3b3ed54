// ---- the map of the queries ----

const map = { data: null, view: null, pinned: null, loaded: new Map() };
const control = (name) => document.getElementById(`map-${name}`);
const label = (method) => page.studies.find((study) => method in study.methods)?.methods[method] ?? page.methods[method] ?? method;

// The study that a method belongs to; methods of none, such as the reference feature, are shown with every study.
const studyOf = (method) => page.studies.find((study) => method in study.methods);

async function loadMap() {
  const name = control("dataset").value;
  if (!window.vegaEmbed) {
    const script = element("script");
    script.textContent = await unpack("bundle");
    document.head.append(script);
  }
  if (!map.loaded.has(name)) map.loaded.set(name, JSON.parse(await unpack(`map-${name}`)));
  map.data = map.loaded.get(name);
  map.pinned = null;
  offerChoices();
  await draw();
}

// Fill a list of choices, which may be groups of them; what was chosen stays chosen where it can.
function offer(select, groups, wanted) {
  const before = select.value;
  select.replaceChildren(...groups.flatMap(([name, choices]) => {
    const options = choices.map(([value, text]) => new Option(text, value));
    if (!name) return options;
    const group = Object.assign(element("optgroup"), { label: name });
    group.append(...options);
    return options.length ? [group] : [];
  }));
  const values = [...select.options].map((option) => option.value);
  select.value = [before, wanted, values[0]].find((value) => values.includes(value)) ?? "";
}

function methodGroups() {
  const measured = Object.keys(map.data.ap), own = new Set();
  const groups = page.studies.map((study) => {
    const names = Object.keys(study.methods).filter((method) => measured.includes(method));
    names.forEach((method) => own.add(method));
    return [study.paper, names.map((method) => [method, label(method)])];
  });
  return [...groups, ["other methods", measured.filter((method) => !own.has(method)).map((method) => [method, label(method)])]];
}

function offerChoices() {
  const methods = methodGroups(), study = page.studies.find((one) => one.against in map.data.ap);
  const known = [["type", "type of the query"], ["relevant", "relevant documents"], ["documents", "documents"], ["part", "part of the data"]];
  const measured = Object.keys(map.data.ap).length ? [["gain", "gain of the method"], ["ap", "average precision"]] : [];
  offer(control("colour"), [["", [...measured, ...known.filter(([name]) => map.data[name])]]], "gain");
  offer(control("method"), methods, Object.keys(study?.methods ?? {}).find((method) => method in map.data.ap && method !== study.against));
  offer(control("base"), methods, study?.against);
}

// The value of query i that the colour shows, and what kind of value that is.
function coloured() {
  const what = control("colour").value, { ap } = map.data;
  const own = ap[control("method").value], base = ap[control("base").value];
  if (what === "gain") return ["gain", (i) => (own[i] === null || base[i] === null ? null : (own[i] - base[i]) / 1000)];
  if (what === "ap") return ["amount", (i) => (own[i] === null ? null : own[i] / 1000)];
  return [typeof map.data[what].find((v) => v !== null) === "number" ? "amount" : "nominal", (i) => map.data[what][i]];
}

function rows() {
  const words = control("find").value.trim().toLowerCase(), { id, text, x, y } = map.data;
  const matches = (i) => !words || id[i].toLowerCase() === words || (text?.[i] ?? id[i]).toLowerCase().includes(words);
  const [, value] = coloured();
  return id.map((_, i) => ({ i, x: x[i], y: y[i], c: value(i), m: matches(i) }));
}

async function draw() {
  const [kind] = coloured();
  const spec = structuredClone(page.spec), dots = spec.layer.find((layer) => layer.name === "dots");
  dots.encoding.color = structuredClone(page.colours[kind]);
  dots.encoding.color.condition = { test: "datum.c === null", value: "#d5d5d5" };
  const shares = map.data.explained.map((share) => ` (${Math.round(100 * share)} % of the variance)`);
  for (const layer of spec.layer) {
    layer.encoding.x.axis.title += shares[0] ?? "";
    layer.encoding.y.axis.title += shares[1] ?? "";
  }
  spec.datasets.queries = rows();
  const first = map.pinned ?? extreme();
  Object.assign(spec.datasets, marks(first));
  const made = await window.vegaEmbed("#map-view", spec, { actions: false, renderer: "canvas" });
  map.view?.finalize();
  map.view = made.view;
  map.view.addEventListener("mousemove", (_, item) => { if (map.pinned === null && item?.datum?.i !== undefined) about(item.datum.i); });
  map.view.addEventListener("click", (_, item) => {
    map.pinned = item?.datum?.i ?? null;
    if (map.pinned !== null) about(map.pinned);
  });
  note();
  about(first);
}

// The query with the largest value shown: something to look at before anything is pointed at.
function extreme() {
  const [kind, value] = coloured();
  if (kind === "nominal") return 0;
  return map.data.id.reduce((best, _, i) => ((value(i) ?? -Infinity) > (value(best) ?? -Infinity) ? i : best), 0);
}

function note() {
  const { id, total, ap } = map.data, tested = Object.values(ap)[0]?.filter((v) => v !== null).length ?? 0;
  const found = rows().filter((row) => row.m).length;
  const few = id.length < total ? `${id.length.toLocaleString("en")} of ${total.toLocaleString("en")} queries are shown, evenly chosen. ` : "";
  const looked = found < id.length ? `${found} match. ` : "";
  control("note").textContent = `${few}${looked}${tested.toLocaleString("en")} are test queries; the others (grey) have no average precision. ` +
    "Neighbours are training queries of the fold in which the query is tested.";
}

// The ring around a query and the lines to its neighbours; a query without any has a line to itself.
function marks(i) {
  const { x, y, near } = map.data, inside = near[i].filter((j) => typeof j === "number");
  const edges = (inside.length ? inside : [i]).map((j) => ({ x: x[i], y: y[i], x2: x[j], y2: y[j] }));
  return { edges, chosen: [{ x: x[i], y: y[i] }] };
}

function about(i) {
  const { edges, chosen } = marks(i);
  map.view.data("edges", edges).data("chosen", chosen).runAsync();
  control("about").replaceChildren(...words(i), neighboursList(map.data.near[i]), methodsTable(i));
}

function words(i) {
  const { id, text, type, part, documents, relevant } = map.data;
  const facts = [`query ${id[i]}`, type?.[i], part[i], `${relevant[i]} of ${documents[i]} documents relevant`];
  return [element("h4", text?.[i] ?? `query ${id[i]}`), element("p", facts.filter(Boolean).join(", "), "hint")];
}

function methodsTable(i) {
  const table = element("table"), base = map.data.ap[control("base").value]?.[i];
  const study = studyOf(control("method").value), ours = (method) => !study || !studyOf(method) || studyOf(method) === study;
  const tested = methodGroups().flatMap(([, methods]) => methods).map(([method]) => [method, map.data.ap[method]])
    .filter(([method, values]) => ours(method) && values[i] !== null);
  if (!tested.length) return element("p", "A training or validation query: it has no average precision.", "hint");
  table.insertRow().append(element("th", "method"), element("th", "AP"), element("th", "gain"), element("th"));
  for (const [method, values] of tested) {
    const row = table.insertRow(), gain = base === null ? null : (values[i] - base) / 1000;
    row.append(element("td", label(method)), element("td", (values[i] / 1000).toFixed(3), "n"));
    const text = gain === null ? "" : gain === 0 ? "0" : (gain > 0 ? "+" : "") + gain.toFixed(3);
    row.append(element("td", text, `n ${gain > 0 ? "up" : gain < 0 ? "down" : ""}`));
    const bar = row.insertCell().appendChild(element("div", undefined, "bar"));
    bar.style.width = `${Math.round(values[i] * 0.06)}px`;
  }
  return table;
}

function neighboursList(near) {
  const list = element("div");
  list.append(element("p", "Nearest training queries:", "hint"));
  for (const j of near) {
    const item = list.appendChild(element("div")), inside = typeof j === "number";
    const name = inside ? map.data.text?.[j] ?? `query ${map.data.id[j]}` : `query ${j}`;
    const button = item.appendChild(element(inside ? "button" : "span", name));
    if (inside) button.addEventListener("click", () => { map.pinned = j; about(j); });
  }
  return list;
}

if (control("dataset").options.length) {
  control("dataset").addEventListener("change", loadMap);
  for (const name of ["colour", "base"]) control(name).addEventListener("change", draw);
  control("method").addEventListener("change", () => {
    const study = studyOf(control("method").value);
    if (study && study !== studyOf(control("base").value) && study.against in map.data.ap) control("base").value = study.against;
    draw();
  });
  control("find").addEventListener("input", () => { map.view.data("queries", rows()).runAsync(); note(); });
  const near = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) { near.disconnect(); loadMap(); }
  }, { rootMargin: "400px" });
  near.observe(control("view"));
} else {
  document.getElementById("map").hidden = true;
}
