// The mask editor: which query (row) may attend to which key (column), cell by cell, and what becomes of a row's weights.
// The same file runs in JupyterLab (as an anywidget module) and on a page without a kernel.
// In order: the mathematics, the masks and their names, the words, the picture, the reader's hand.

// ---- The mathematics: lib/attention.py, for one query ----

/** How well the query fits each key: their dot product. */
export function scores(query, key) {
  return key.map((k) => k.reduce((sum, x, i) => sum + x * query[i], 0));
}

/** Weights that are 0 or more and sum to 1; all 0 where every score is -Infinity. */
export function softmax(scores) {
  const largest = Math.max(...scores); // subtracted first, so that exp cannot overflow
  const exponentials = scores.map((s) => (s === -Infinity ? 0 : Math.exp(s - largest)));
  const total = exponentials.reduce((sum, e) => sum + e, 0);
  return exponentials.map((e) => (total === 0 ? 0 : e / total));
}

/** The values, added up in proportion to their weights. */
export function blend(weights, value) {
  return value[0].map((_, column) => weights.reduce((sum, w, i) => sum + w * value[i][column], 0));
}

/** What the chosen row's query gets: scores are scaled by 1/√d_k, and that of a hidden key is -Infinity, so its weight is 0. */
export function lookUp({ query, key, value, mask, row }) {
  const scale = 1 / Math.sqrt(query[row].length);
  const s = scores(query[row], key).map((score, j) => (mask[row][j] ? scale * score : -Infinity));
  const w = softmax(s);
  return { scores: s, weights: w, output: blend(w, value) };
}

// ---- The masks and their names ----

const table = (n, allowed) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => allowed(i, j)));

export const noMask = (n) => table(n, () => true);
export const causalMask = (n) => table(n, (i, j) => j <= i);
export const paddingMask = (n, real) => table(n, (i, j) => j < real);
export const windowMask = (n, left, right) => table(n, (i, j) => i - left <= j && j <= i + right);

const cells = (mask) => mask.flatMap((row, i) => row.map((open, j) => ({ i, j, open })));
const differences = (mask, other) => cells(mask).filter(({ i, j, open }) => open !== other[i][j]);
const range = (n) => Array.from({ length: n }, (_, i) => i);

/** The masks that have a name: a kind (for the words), the numbers in its name, and the mask itself. */
function namedMasks(n, { left, real }) {
  const plain = (kind, mask) => ({ kind, fields: {}, mask });
  const padding = (real) => ({ kind: "padding", fields: { n: real }, mask: paddingMask(n, real) });
  const window = (left, right) => ({ kind: "window", fields: { left, right }, mask: windowMask(n, left, right) });
  const near = range(Math.floor(n / 2));
  return {
    usual: [plain("causal", causalMask(n)), plain("none", noMask(n)), padding(real), window(left, 0)],
    others: [plain("closed", paddingMask(n, 0)), ...range(n).map(padding),
      ...near.flatMap((left) => near.map((right) => window(left, right)))],
  };
}

/** Say what a mask is: one that has a name, a usual one but for three cells at most, or a custom one. */
export function describe(mask, settings) {
  const n = mask.length;
  const { usual, others } = namedMasks(n, settings);
  const compare = ({ kind, fields, mask: other }) => ({ kind, fields, exceptions: differences(mask, other) });
  const exact = [...usual, ...others].map(compare).find(({ exceptions }) => exceptions.length === 0);
  const [near] = usual.map(compare).sort((a, b) => a.exceptions.length - b.exceptions.length);
  if (exact || near.exceptions.length <= 3) return exact ?? near;
  const open = cells(mask).filter((cell) => cell.open);
  const ahead = open.filter(({ i, j }) => j > i);
  return { kind: "custom", fields: { seen: open.length, all: n * n, ahead: ahead.length }, exceptions: [] };
}

/** A leak: an open cell that the mask's name promises to be closed, ahead of the query or in the padding. */
const isLeak = (kind, { i, j, open }) => open && (kind === "padding" || j > i);

// ---- The words ----

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const fill = (template, fields) => template.replace(/\{(\w+)\}/g, (_, name) => fields[name]);
const number = (x, digits = 2) => (x === -Infinity ? "−∞" : x.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−"));

/** The words for a query and a key; tokens are counted from 0, as in NumPy. */
function pair({ tokens }, i, j = i) {
  const [query, key] = [`‘${tokens[i]}’`, `‘${tokens[j]}’`];
  return { i, j, query, key, token: query };
}

/** "causal, but token 2 ‘forget’ sees token 4 ‘word’: a leak" */
export function maskName(state) {
  const { kind, fields, exceptions } = describe(state.mask, state);
  const name = fill(state.words[`is_${kind}`], fields);
  const which = (cell) => (isLeak(kind, cell) ? "leak" : cell.open ? "sees" : "misses");
  const said = exceptions.map((cell) => fill(state.words[which(cell)], pair(state, cell.i, cell.j)));
  return said.length ? fill(state.words.but, { name, exceptions: said.join("; ") }) : name;
}

/** Two sentences: what the mask is, and what the chosen row gets. */
export function sentence(state) {
  const { words, tokens, row, mask } = state;
  const { weights, output } = lookUp(state);
  const largest = Math.max(...weights);
  const top = tokens.filter((_, j) => weights[j] >= largest - 1e-9).map((token) => `‘${token}’`);
  const n = mask[row].filter(Boolean).length;
  const fields = { ...pair(state, row), n, all: tokens.length, names: top.join(` ${words.and} `),
    weight: number(largest), output: `(${output.map((x) => number(x)).join(", ")})` };
  return `${fill(words.say, { name: maskName(state) })} ${fill(n ? words.say_row : words.say_empty, fields)}`;
}

// ---- The picture: strings of HTML, so that it can be drawn without a browser, too ----

/** The chosen row: under each key its score and its weight, as a number and as a bar. */
function rowTable(state) {
  const { words, tokens, row } = state;
  const { scores, weights } = lookUp(state);
  const bar = (w) => `<svg class="lu-bar" viewBox="0 0 8 60" preserveAspectRatio="none" aria-hidden="true">
    <path d="M0 60H8"/><rect y="${60 - 60 * w}" width="8" height="${60 * w}"/></svg>`;
  const line = (head, cells) => `<tr><th scope="row">${head}</th>${cells.join("")}</tr>`;
  return `<caption>${escape(fill(words.row, pair(state, row)))}</caption>
    <thead>${line(words.key, tokens.map((token) => `<th scope="col" class="lu-up"><span>${escape(token)}</span></th>`))}</thead>
    <tbody>${line(words.score, scores.map((s) => `<td>${number(s, 1)}</td>`))}
    ${line(words.weight, weights.map((w) => `<td>${bar(w)}${number(w)}</td>`))}</tbody>`;
}

/** The whole of it, standing still: controls are switched off until there is a hand to answer. */
export function page(state) {
  const { words, tokens, mask, row } = state;
  const cell = (open, i, j) => `<td><button type="button" class="lu-cell" data-cell="${i} ${j}" tabindex="-1" disabled
    aria-pressed="${open}" aria-label="${escape(fill(words.cell, pair(state, i, j)))}"></button></td>`;
  const head = (i) => `<th scope="row"><button type="button" class="lu-row" data-cell="${i} -1" tabindex="-1" disabled
    aria-pressed="${i === row}" aria-label="${escape(fill(words.choose, pair(state, i)))}"><b>${i}</b> ${escape(tokens[i])}</button></th>`;
  const column = (token, j) => `<th scope="col" class="lu-up"><span><b>${j}</b> ${escape(token)}</span></th>`;
  const preset = (name) => `<button type="button" class="lu-preset" data-preset="${name}" aria-pressed="false" disabled>${words[name]}</button>`;
  return `<div class="lu-body" role="group" aria-label="${words.title}">
  <p class="lu-use">${words.use}</p>
  <div class="lu-controls" role="group" aria-label="${words.presets}"><span>${words.presets}</span>
    ${["none", "causal", "padding", "window"].map(preset).join("")}</div>
  <table class="lu-grid" role="grid" aria-label="${words.grid}"><thead><tr><td class="lu-corner">${words.corner}</td>${tokens.map(column).join("")}</tr></thead>
    <tbody>${mask.map((cells, i) => `<tr>${head(i)}${cells.map((open, j) => cell(open, i, j)).join("")}</tr>`).join("")}</tbody></table>
  <table class="lu-grid lu-chosen">${rowTable(state)}</table>
  <p class="lu-say" aria-live="polite">${escape(sentence(state))}</p>
  <noscript><p>${words.still}</p></noscript></div>`;
}

// ---- The reader's hand ----

const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity] };
const clamp = (x, from, to) => Math.min(Math.max(x, from), to);

/** In a notebook a key is a command, too: an arrow leaves the cell, a letter adds or cuts one. What is typed in here stays here. */
function keepKey(event) {
  const runs = event.shiftKey && event.key === "Enter", itsOwn = event.key === "Escape" || /^F\d+$/.test(event.key);
  if (!event.ctrlKey && !event.altKey && !event.metaKey && !runs && !itsOwn) event.stopPropagation();
}

function render({ model, el }) {
  el.addEventListener("keydown", keepKey);
  const names = ["query", "key", "value", "mask", "row", "tokens", "words", "left", "real"];
  const read = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  el.classList.add("lu");
  if (!el.querySelector(".lu-body")) el.innerHTML = page(read()); // a built page has it already
  const find = (selector) => el.querySelector(selector);
  const [grid, say, n] = [find("[role=grid]"), find(".lu-say"), model.get("tokens").length];
  const buttons = [...grid.querySelectorAll("button")];
  const place = (button) => button.dataset.cell.split(" ").map(Number); // row and column; column -1 is the row's name
  const { left, real } = read();
  const presets = { none: noMask(n), causal: causalMask(n), padding: paddingMask(n, real), window: windowMask(n, left, 0) };
  let settled; // a timer: a screen reader hears the sentences when the hand rests, not at every step

  function write(fields) {
    for (const [field, value] of Object.entries(fields)) model.set(field, value);
    model.save_changes();
  }

  function update() {
    const state = read();
    const { kind, exceptions } = describe(state.mask, state);
    for (const button of buttons) {
      const [i, j] = place(button);
      button.setAttribute("aria-pressed", j < 0 ? i === state.row : state.mask[i][j]);
      button.classList.toggle("lu-leak", exceptions.some((cell) => cell.i === i && cell.j === j && isLeak(kind, cell)));
      button.closest("tr").classList.toggle("lu-current", i === state.row);
    }
    for (const button of el.querySelectorAll(".lu-preset"))
      button.setAttribute("aria-pressed", differences(state.mask, presets[button.dataset.preset]).length === 0);
    find(".lu-chosen").innerHTML = rowTable(state);
    clearTimeout(settled);
    settled = setTimeout(() => {
      const said = sentence(read());
      if (say.textContent !== said) say.textContent = said;
    }, 250);
  }

  /** One button of the grid is in the order of Tab; the arrow keys move that place. */
  function enter(button) {
    for (const other of buttons) other.tabIndex = other === button ? 0 : -1;
    if (model.get("row") !== place(button)[0]) write({ row: place(button)[0] });
  }

  grid.addEventListener("focusin", (event) => enter(event.target));
  grid.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    enter(button); // Safari does not focus a button that is clicked
    const [i, j] = place(button);
    if (j >= 0) write({ mask: model.get("mask").map((row, r) => row.map((open, c) => (r === i && c === j ? !open : open))) });
  });
  grid.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault(); // the page does not scroll
    const [i, j] = place(event.target);
    const next = [clamp(i + step[0], 0, n - 1), clamp(j + step[1], -1, n - 1)].join(" ");
    buttons.find((button) => button.dataset.cell === next).focus();
  });
  for (const button of el.querySelectorAll(".lu-preset"))
    button.addEventListener("click", () => write({ mask: presets[button.dataset.preset] }));

  for (const control of el.querySelectorAll("[disabled]")) control.disabled = false;
  buttons.find((button) => button.dataset.cell === `${model.get("row")} -1`).tabIndex = 0;
  for (const field of ["mask", "row"]) model.on(`change:${field}`, update);
  update();
  return () => ["mask", "row"].forEach((field) => model.off(`change:${field}`, update));
}

export default { render };
