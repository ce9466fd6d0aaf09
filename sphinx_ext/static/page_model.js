
// ---- On a page without a kernel: a model that keeps the state itself, with what anywidget's model has and ours use ----

function pageModel(state) {
  const listeners = {};
  return {
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      for (const listener of listeners[`change:${name}`] ?? []) listener();
    },
    save_changes() {}, // there is no kernel to tell
    on: (event, listener) => (listeners[event] ??= []).push(listener),
  };
}

for (const el of document.querySelectorAll('[data-hands-on="MODULE"]'))
  render({ el, model: pageModel(JSON.parse(el.querySelector("script").textContent)) });
