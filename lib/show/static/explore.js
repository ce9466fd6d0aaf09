/* Explorers on the built page: shows the frame that the controls name. All frames are in the page (lib/show/frames.py
   packs them), so that nothing is fetched and nothing computed. */
(() => {
  "use strict";

  /* The number of the option that a control stands at. */
  const at = control => {
    const input = control.querySelector("input");
    if (input.type === "range") return Number(input.value);
    return input.type === "checkbox" ? Number(input.checked) : Number(control.querySelector(":checked").value);
  };

  /* A frame is runs of the table's lines: [3, 5] stands for the five lines from number 3 on. */
  const picture = ({lines, frames}, number) => {
    const runs = frames[number], parts = [];
    for (let i = 0; i < runs.length; i += 2) parts.push(...lines.slice(runs[i], runs[i] + runs[i + 1]));
    return parts.join("\n");
  };

  const start = root => {
    const data = JSON.parse(root.querySelector("script").textContent);
    const form = root.querySelector("form"), controls = [...form.querySelectorAll(".lu-control")];
    const view = root.querySelector(".lu-view"), says = root.querySelector(".lu-says");
    let shown = -1;

    const show = () => {
      const number = controls.reduce((sum, control, i) => sum * data.options[i].length + at(control), 0);
      if (number === shown) return;
      shown = number;
      view.innerHTML = picture(data, number);
      if (says.textContent !== data.sentences[number]) says.textContent = data.sentences[number];
      controls.forEach((control, i) => {
        const output = control.querySelector("output");
        if (!output) return;
        output.value = data.options[i][at(control)];
        control.querySelector("input").setAttribute("aria-valuetext", output.value);
      });
    };

    form.addEventListener("input", show);
    form.addEventListener("submit", event => event.preventDefault());
    window.addEventListener("pageshow", show);  // a browser may restore the controls when the reader comes back
    form.hidden = false;
    show();
  };

  document.querySelectorAll("div.lu-explorer > script").forEach(script => start(script.parentElement));
})();
