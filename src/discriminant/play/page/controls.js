// The forms: sets of points, method, basis, coding, parameters, made from the server's own table of them.

const $ = (id) => document.getElementById(id);

function fill(select, pairs, chosen) {
  select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value, false, value === chosen)));
}

const shown = (value) => (Number.isInteger(value) ? String(value) : String(+value.toPrecision(3)));

/** A control for a parameter of the table. */
export function control(parameter, value, changed) {
  const label = document.createElement("label");
  label.className = "field";
  if (parameter.help) label.title = parameter.help;
  const head = document.createElement("span");
  head.textContent = parameter.label[0].toUpperCase() + parameter.label.slice(1);
  label.append(head);
  if (parameter.choices.length) {
    const select = document.createElement("select");
    fill(select, parameter.choices, value);
    select.addEventListener("change", () => changed(select.value));
    label.append(select);
    label.classList.add("beside");
    select.name = parameter.name;
    return label;
  }
  const range = document.createElement("input"), output = document.createElement("span");
  const log = parameter.scale === "log", low = log ? Math.log10(parameter.low) : parameter.low, high = log ? Math.log10(parameter.high) : parameter.high;
  const back = (position) => {
    const raw = log ? 10 ** position : position;
    const rounded = parameter.whole ? Math.round(raw) : +raw.toPrecision(2);
    return Math.max(parameter.low, Math.min(parameter.high, rounded));
  };
  Object.assign(range, { type: "range", min: low, max: high, step: parameter.whole && !log ? 1 : (high - low) / 200, name: parameter.name });
  range.value = log ? Math.log10(value) : value;
  const say = (v) => { output.textContent = shown(v); range.setAttribute("aria-valuetext", shown(v)); };
  output.className = "value";
  say(value);
  range.addEventListener("input", () => { const v = back(Number(range.value)); say(v); changed(v); });
  head.append(output);
  label.append(range);
  return label;
}

export class Controls {
  constructor(options, state, changed) {
    this.options = options;
    this.state = state;
    this.changed = changed;
    this.methods = new Map(options.methods.map((m) => [m.name, m]));
    for (const m of options.methods) state.parameters[m.name] = Object.fromEntries(m.parameters.map((p) => [p.name, p.default]));
    fill($("preset"), [["", "your own points"], ...options.presets.map((p) => [p.name, p.title])], options.first);
    $("preset").options[0].hidden = true;
    fill($("basis"), options.bases, state.choices.basis);
    for (const name of ["method", "basis", "coding", "decoder"]) {
      $(name).addEventListener("change", () => { state.choices[name] = $(name).value; state.choices.view = 0; this.renew(); changed(); });
    }
    const noise = { name: "noise", label: "noise", default: 0, low: 0, high: 2, choices: [], help: "Moves every point at random." };
    $("noise-field").append(control(noise, 0, (v) => { state.shake(v); changed(); }));
    // Above the board on a phone, where the form below it is out of reach.
    const narrow = matchMedia("(max-width: 760px)"), place = () => $(narrow.matches ? "method-slot" : "method-home").append($("method-field"));
    narrow.addEventListener("change", place);
    place();
    $("view").addEventListener("change", () => { state.choices.view = Number($("view").value); changed(); });
  }

  /** Take over what a set of points is best looked at with. */
  follow(preset) {
    Object.assign(this.state.choices, { method: preset.method, basis: preset.basis, coding: preset.coding, decoder: "auto", view: 0 });
    const method = this.methods.get(preset.method);
    this.state.parameters[method.name] = { ...Object.fromEntries(method.parameters.map((p) => [p.name, p.default])), ...preset.parameters };
    this.renew();
  }

  /** Show what belongs to the chosen method. */
  renew() {
    const { state, options } = this, chosen = state.choices, classes = state.classes().length, many = classes > 2;
    // What cannot tell so many classes apart is not offered; where it was chosen, the first method takes its place.
    const offered = options.methods.filter((m) => m.classes >= classes), asked = this.methods.get(chosen.method);
    const method = offered.includes(asked) ? asked : offered[0];
    chosen.method = method.name;
    fill($("method"), offered.map((m) => [m.name, m.title]), method.name);
    $("basis").value = chosen.basis;
    $("about").textContent = (method === asked ? "" : `“${asked.title}” tells ${asked.classes} classes apart and there are ${classes}: ${method.title} instead. `) + method.about;
    $("split-field").replaceChildren(control(options.split, chosen.split, (v) => { chosen.split = v; this.changed(); }));
    if (!method.codings.includes(chosen.coding)) chosen.coding = method.codings[0] ?? "auto";
    fill($("coding"), method.codings.map((c) => [c, options.codings[c]]), chosen.coding);
    $("coding-field").hidden = !many || !method.codings.length;
    const decoders = options.decoders_of[chosen.coding] ?? [];
    if (!decoders.includes(chosen.decoder)) chosen.decoder = decoders[0] ?? "auto";
    fill($("decoder"), decoders.map((d) => [d, options.decoders[d]]), chosen.decoder);
    $("decoder-field").hidden = !many || !decoders.length || chosen.method === "svc";
    const centres = ["rbf", "distances"].includes(chosen.basis);
    $("centres-field").replaceChildren(...(centres ? [control(options.centres, chosen.centres, (v) => { chosen.centres = v; this.changed(); })] : []));
    this.parameters(method);
  }

  parameters(method) {
    const values = this.state.parameters[method.name];
    const wanted = method.parameters.filter((p) => !p.when || p.when[1].includes(values[p.when[0]]));
    $("parameters").replaceChildren(...wanted.map((p) => control(p, values[p.name], (v) => {
      values[p.name] = v;
      if (method.parameters.some((other) => other.when && other.when[0] === p.name)) {
        this.parameters(method);
        $("parameters").querySelector(`[name="${p.name}"]`)?.focus();
      }
      this.changed();
    })));
  }
}
