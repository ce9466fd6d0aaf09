// The shelf: a query looks something up among books that stand in a plane.
// The same file runs in JupyterLab (as an anywidget module) and on a page without a kernel.
// In order: the mathematics, the words, the picture, the reader's hand.

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

/** Softmax of scores / temperature: 0 is the hard lookup (ties share), Infinity the plain average. */
export function weights(scores, temperature) {
  if (temperature > 0) return softmax(scores.map((s) => s / temperature));
  const largest = Math.max(...scores);
  return softmax(scores.map((s) => (isTie(s, largest) ? 0 : -Infinity)));
}

/** Equal but for rounding. Python decides in the same way. */
const isTie = (score, largest) => largest - score <= 1e-9 * Math.max(1, Math.abs(largest));

/** The values, added up in proportion to their weights. */
export function blend(weights, value) {
  return value[0].map((_, column) => weights.reduce((sum, w, i) => sum + w * value[i][column], 0));
}

/** Everything that follows from a state. */
export function lookUp({ query, key, value, temperature }) {
  const s = scores(query[0], key);
  const w = weights(s, temperature ?? Infinity); // JSON has no infinity: null stands for it
  return { scores: s, weights: w, output: blend(w, value) };
}

// ---- The words ----

const TEMPERATURES = [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, Infinity];

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const fill = (template, fields) => template.replace(/\{(\w+)\}/g, (_, name) => fields[name]);
const number = (x, digits = 2) => x.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
const infinite = (temperature) => (temperature === Infinity ? "∞" : String(temperature));

/** One sentence that says what the state shows. */
export function sentence(state) {
  const { names, components, words, start, value } = state;
  const { weights, output } = lookUp(state);
  const largest = Math.max(...weights);
  const top = names.filter((_, i) => weights[i] >= largest - 1e-9).map((name) => `‘${name}’`);
  const [hard, flat, tie] = [state.temperature === 0, state.temperature === null, top.length > 1];
  const kind = flat ? "say_average" : (hard ? "say_hard" : "say_most") + (tie ? "_tie" : "");
  const said = fill(words[kind.replace("most_tie", "tie")], {
    names: top.join(` ${words.and} `),
    weight: number(largest),
    blend: output.map((x, i) => `${number(x)} ${components[i]}`).join(", "),
  });
  const swapped = JSON.stringify(value) !== JSON.stringify(start.value);
  return swapped ? `${said} ${words.say_swapped}` : said;
}

// ---- The picture: strings of HTML and SVG, so that it can be drawn without a browser, too ----

const [SIZE, UNIT, LIMIT] = [340, 50, 3]; // the plane's width, one unit of a key, how far a point may go
const across = (x) => SIZE / 2 + UNIT * x;
const down = (y) => SIZE / 2 - UNIT * y;
const at = ([x, y]) => `translate(${across(x)} ${down(y)})`;

/** What lies under the handles: axes, one halo a book (its area grows with the weight), names and scores. */
function ground(state) {
  const { query: [query], key, names, axes, words } = state;
  const { scores, weights } = lookUp(state);
  const halo = (k, i) => `<circle class="lu-halo" cx="${across(k[0])}" cy="${down(k[1])}" r="${14 + 26 * Math.sqrt(weights[i])}"/>`;
  const label = ([x, y], i) => {
    const half = 3.4 * names[i].length; // about half its width, to keep it inside the picture
    const middle = Math.min(Math.max(across(x), half), SIZE - half);
    const top = down(y) + (y > 2.3 || (y < 0 && y > -2.3) ? 27 : -32); // away from the arrow, inside the picture
    return `<text class="lu-name" x="${middle}" y="${top}">${escape(names[i])}</text>
      <text class="lu-name" x="${middle}" y="${top + 14}">${words.score} ${number(scores[i])}</text>`;
  };
  return `<path class="lu-axis" d="M0 ${SIZE / 2}H${SIZE}M${SIZE / 2} 0V${SIZE}"/>
    <text class="lu-axis-name lu-end" x="${SIZE - 3}" y="${SIZE / 2 - 5}">${escape(axes[0])} →</text>
    <text class="lu-axis-name" x="${SIZE / 2 + 5}" y="12">↑ ${escape(axes[1])}</text>
    ${key.map(halo).join("")}
    <path class="lu-arrow" d="M${across(0)} ${down(0)}L${across(query[0])} ${down(query[1])}"/>
    ${key.map(label).join("")}`;
}

const handle = (kind, which, text, point) =>
  `<g class="lu-handle lu-${kind}" data-which="${which}" transform="${at(point)}"><circle r="14"/><text y="4.5">${text}</text></g>`;

/** A bar from the middle (scores) or from the left (weights), for a share between -1 and 1. */
function bar(share, signed) {
  const [zero, unit] = signed ? [30, 30] : [0, 60];
  const x = share < 0 ? zero + unit * share : zero;
  return `<svg class="lu-bar" viewBox="0 0 60 8" preserveAspectRatio="none" aria-hidden="true">
    <path d="M${zero} 0V8"/><rect x="${x}" width="${unit * Math.abs(share)}" height="8"/></svg>`;
}

/** The table's body: one row a book. */
function rows(state) {
  const { scores, weights } = lookUp(state);
  const longest = Math.max(...scores.map(Math.abs)) || 1;
  const row = (name, i) => `<tr><th scope="row"><b class="lu-number">${i + 1}</b> ${escape(name)}</th>
    <td>${number(scores[i])}${bar(scores[i] / longest, true)}</td>
    <td>${number(weights[i])}${bar(weights[i], false)}</td>
    ${state.value[i].map((x) => `<td>${number(x, 0)}</td>`).join("")}</tr>`;
  return state.names.map(row).join("");
}

const total = (state) =>
  `<tr><th scope="row" colspan="3">${state.words.blend}</th>${lookUp(state).output.map((x) => `<td>${number(x)}</td>`).join("")}</tr>`;

/** The whole of it, standing still: controls are switched off until there is a hand to answer. */
export function page(state) {
  const { words, names, axes, components, query, key } = state;
  const plane = escape(fill(words.plane, { x: axes[0], y: axes[1] }));
  return `<div class="lu-body" role="group" aria-label="${words.title}">
  <p class="lu-use">${words.use}</p>
  <div class="lu-columns"><div>
  <svg class="lu-plane" viewBox="0 0 ${SIZE} ${SIZE}" role="group" aria-label="${plane}">
    <g class="lu-ground" aria-hidden="true">${ground(state)}</g>
    ${key.map((k, i) => handle("key", i, i + 1, k)).join("")}${handle("query", "query", "q", query[0])}
  </svg>
  <div class="lu-controls">
    <label class="lu-temperature"><span>${words.temperature} <output></output></span>
      <input type="range" min="0" max="${TEMPERATURES.length - 1}" autocomplete="off" disabled>
      <span class="lu-ends" aria-hidden="true"><span>${words.hard}</span><span>${words.average}</span></span></label>
    <button type="button" class="lu-swap" disabled>${words.swap}</button>
    <button type="button" class="lu-reset" disabled>${words.reset}</button>
  </div></div>
  <div>
  <table class="lu-table"><thead>
    <tr><td colspan="3"></td><th scope="colgroup" colspan="${components.length}">${words.value}</th></tr>
    <tr>${[words.book, words.score, words.weight, ...components]
    .map((head) => `<th scope="col">${escape(head)}</th>`).join("")}</tr></thead>
    <tbody>${rows(state)}</tbody><tfoot>${total(state)}</tfoot></table>
  <p class="lu-say" aria-live="polite">${escape(sentence(state))}</p>
  </div></div>
  <p class="lu-how">${words.how}</p>
  <noscript><p>${words.still}</p></noscript></div>`;
}

// ---- The reader's hand ----

const FIELDS = ["query", "key", "value", "temperature"]; // what the reader can change
const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
  PageUp: [0, 5], PageDown: [0, -5], Home: [-Infinity, 0], End: [Infinity, 0] }; // as on every slider

/** In a notebook a key is a command, too: an arrow leaves the cell, a letter adds or cuts one. What is typed in here stays here. */
function keepKey(event) {
  const runs = event.shiftKey && event.key === "Enter", itsOwn = event.key === "Escape" || /^F\d+$/.test(event.key);
  if (!event.ctrlKey && !event.altKey && !event.metaKey && !runs && !itsOwn) event.stopPropagation();
}

function render({ model, el }) {
  el.addEventListener("keydown", keepKey);
  const read = () => Object.fromEntries([...FIELDS, "names", "components", "axes", "words", "start"].map((f) => [f, model.get(f)]));
  el.classList.add("lu");
  if (!el.querySelector(".lu-body")) el.innerHTML = page(read()); // a built page has it already
  const find = (selector) => el.querySelector(selector);
  const [svg, slider, say] = [find(".lu-plane"), find("input"), find(".lu-say")];
  const handles = [...el.querySelectorAll(".lu-handle")];
  const { names, axes, words } = read();
  let settled; // a timer: a screen reader hears the sentence when the hand rests, not at every step

  function write(fields) {
    for (const [field, value] of Object.entries(fields)) model.set(field, value);
    model.save_changes();
  }

  function pointOf({ dataset: { which } }) {
    return which === "query" ? model.get("query")[0] : model.get("key")[which];
  }

  function move({ dataset: { which } }, point) {
    const inside = point.map((x) => Math.round(100 * Math.min(Math.max(x, -LIMIT), LIMIT)) / 100);
    if (which === "query") write({ query: [inside] });
    else write({ key: model.get("key").map((k, i) => (i === Number(which) ? inside : k)) });
  }

  function update() {
    const state = read();
    find(".lu-ground").innerHTML = ground(state);
    find("tbody").innerHTML = rows(state);
    find("tfoot").innerHTML = total(state);
    for (const handle of handles) {
      const [x, y] = pointOf(handle);
      handle.setAttribute("transform", at([x, y]));
      handle.setAttribute("aria-valuenow", x);
      const place = { x: number(x), y: number(y), x_name: axes[0], y_name: axes[1] };
      handle.setAttribute("aria-valuetext", fill(words.place, place));
    }
    const temperature = state.temperature ?? Infinity;
    const distance = (t) => Math.abs(Math.atan(t) - Math.atan(temperature)); // finite, for infinity too
    // The default, too: Safari puts it there when the reader comes back to the page.
    slider.value = slider.defaultValue = TEMPERATURES.reduce((best, t, i) => (distance(t) < distance(TEMPERATURES[best]) ? i : best), 0);
    const end = { 0: `0, ${words.hard}`, Infinity: `∞, ${words.average}` }[temperature];
    slider.setAttribute("aria-valuetext", end ?? infinite(temperature));
    find("output").textContent = infinite(temperature);
    clearTimeout(settled);
    settled = setTimeout(() => {
      const said = sentence(read());
      if (say.textContent !== said) say.textContent = said;
    }, 250);
  }

  /** Where a pointer is, in the plane's own numbers. */
  function pointAt(event) {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [(x - SIZE / 2) / UNIT, (SIZE / 2 - y) / UNIT];
  }

  for (const handle of handles) {
    const { which } = handle.dataset;
    const name = which === "query" ? words.query : `${words.key} ${Number(which) + 1}, ${names[which]}`;
    const attributes = { tabindex: 0, role: "slider", "aria-label": name, "aria-roledescription": words.handle,
      "aria-valuemin": -LIMIT, "aria-valuemax": LIMIT };
    for (const [attribute, value] of Object.entries(attributes)) handle.setAttribute(attribute, value);
    let grip = null; // from the pointer to the handle's middle, so that it does not jump when taken
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault(); // no text selection
      handle.focus({ preventScroll: true });
      handle.setPointerCapture(event.pointerId);
      const pointer = pointAt(event);
      grip = pointOf(handle).map((x, i) => x - pointer[i]);
    });
    handle.addEventListener("pointermove", (event) => {
      if (grip) move(handle, pointAt(event).map((x, i) => Math.round(20 * (x + grip[i])) / 20));
    });
    handle.addEventListener("lostpointercapture", () => (grip = null));
    handle.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault(); // the page does not scroll
      move(handle, pointOf(handle).map((x, i) => x + step[i] * (event.shiftKey ? 0.5 : 0.1)));
    });
  }
  slider.addEventListener("input", () => {
    const temperature = TEMPERATURES[slider.value];
    write({ temperature: temperature === Infinity ? null : temperature });
  });
  find(".lu-swap").addEventListener("click", () => {
    const value = model.get("value");
    write({ value: [...value.slice(-1), ...value.slice(0, -1)] });
  });
  find(".lu-reset").addEventListener("click", () => write(model.get("start")));
  for (const control of el.querySelectorAll("[disabled]")) control.disabled = false;
  for (const field of FIELDS) model.on(`change:${field}`, update);
  update();
  return () => FIELDS.forEach((field) => model.off(`change:${field}`, update));
}

export default { render };
