// The page: asks the server for fits, shows what comes back, plays it step by step.

import { Board, SHAPES } from "./board.js";
import { Curve, short } from "./charts.js";
import { Controls } from "./controls.js";
import { Globe } from "./globe.js";
import { Fit } from "./model.js";
import { State } from "./state.js";

const $ = (id) => document.getElementById(id);
const root = document.documentElement;
let state, board, controls, curve, globe, options;
let fit = null, verdict = null, frame = 0, timer = null, errors = null;
let busy = false, wanted = false, seed = 0;

// Asking

async function ask(path, body) {
  const answer = await fetch(path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const document = await answer.json();
  if (!answer.ok) throw new Error(document.error);
  return document;
}

/** Fit again; while an answer is on its way only the latest wish is remembered. */
async function refit() {
  pause();
  count();
  board.draw();
  if (busy) { wanted = true; return; }
  busy = true;
  document.body.dataset.busy = "true";
  const wait = setTimeout(() => say("learning…"), 150), started = performance.now(), question = state.question(), labels = state.points.map((p) => p[2]);
  try {
    const answer = await ask("fit", question);
    take(answer, labels, performance.now() - started);
  } catch (error) {
    say(error instanceof TypeError ? "The server does not answer: start discriminant play again." : error.message, true);
  }
  clearTimeout(wait);
  busy = false;
  if (wanted) { wanted = false; refit(); return; }
  document.body.dataset.busy = "false";
  document.body.dataset.version = String(Number(document.body.dataset.version) + 1);
}

function take(answer, labels, round) {
  fit = answer.fit ? new Fit(answer.fit, labels) : null;
  verdict = answer.verdict;
  errors = null;
  frame = fit ? fit.count - 1 : 0;
  if (fit) document.body.dataset.disagreements = String([...fit.decisions(frame)].filter((d, i) => d !== answer.fit.predicted[i]).length);
  const started = performance.now();
  show();
  const drawn = performance.now() - started;
  describe(answer);
  say(fit ? `fit ${short(answer.fit_milliseconds)} ms · round trip ${short(round)} ms · picture ${short(drawn)} ms` : "");
  Object.assign(document.body.dataset, { roundTrip: round.toFixed(1), picture: drawn.toFixed(1) });
  setTimeout(() => { if (fit && fit.sent === answer.fit && fit.count > 1) { errors = fit.allErrors(); curve.draw(fit, frame, errors); } }, 120);
}

/** Points and choices are in the address, so that a reload or a friend finds them; browsers allow 200 changes of it in 30 seconds. */
let allowed = 40, written = 0, due = null;
function address() {
  clearTimeout(due);
  const now = performance.now();
  allowed = Math.min(40, allowed + (now - written) / 200);
  written = now;
  if (allowed < 1) { due = setTimeout(address, 250); return; }
  allowed -= 1;
  const link = `#${state.link()}`;
  if (link !== location.hash) history.replaceState(null, "", link);
}

async function share() {
  allowed = Math.max(1, allowed);
  address();
  await copied(location.href, $("share"), "The address of this drawing is in the clipboard.");
}

/** A file of one's own: the server reads it as it reads every table. */
async function own(file) {
  const problem = $("file-problem");
  problem.hidden = true;
  try {
    if (file.size > 0.9 * options.limits.bytes) throw new Error(`${file.name} is larger than the ${0.9 * options.limits.bytes / 1e6} MB that the playground takes.`);
    const { points, story, problem: refusal } = await ask("table", { name: file.name, text: await file.text() });
    if (refusal) throw new Error(refusal);
    state.replace(points, { name: "", title: file.name, story });
    board.selected = -1;
    changed();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
    announce(error.message);
  }
}

// Showing

function show() {
  if (fit) frame = Math.min(frame, fit.count - 1);
  board.show(fit, verdict, frame);
  curve.draw(fit, frame, errors);
  globe.draw(fit, frame, state.points.map((p) => p[2]));
  const scrub = $("scrub"), many = fit !== null && fit.count > 1;
  scrub.max = fit ? fit.count - 1 : 0;
  scrub.value = frame;
  for (const id of ["first", "back", "play", "forth", "last", "scrub", "speed"]) $(id).disabled = !many;
  step();
  looked();
}

function step() {
  if (!fit) { $("step").textContent = ""; return; }
  const J = fit.sent.frames.objective[frame], wrong = fit.errors(frame), k = fit.sent.frames.k;
  const bits = fit.count > 1 ? [`step <b>${k[frame]}</b> of ${k[fit.count - 1]}`] : [];
  if (J !== null) bits.push(`J = <b>${short(J)}</b>`);
  const tested = fit.n - fit.sent.learned.length;
  bits.push(`<b>${wrong}</b> of ${fit.n - tested} wrong`);
  if (tested) bits.push(`test: <b>${fit.errors(frame, 1)}</b> of ${tested} wrong`);
  const row = fit.sent.frames.row[frame];
  if (row >= 0 && frame < fit.count - 1) bits.push(`corrects point ${row + 1}`);
  $("step").innerHTML = bits.join(" · ");
  $("scrub").setAttribute("aria-valuetext", $("step").textContent);
}

function describe(answer) {
  const badge = $("verdict-badge");
  badge.dataset.verdict = verdict ? verdict.verdict : "";
  badge.textContent = verdict ? verdict.verdict : "not yet asked";
  $("verdict").querySelector("h2").textContent = question();
  $("verdict-text").textContent = verdict ? verdict.text + (verdict.proved ? " Checked in exact arithmetic." : "") : "It takes two classes.";
  witness();
  const certificate = answer.fit?.certificate;
  $("certificate").className = answer.fit ? (certificate.converged ? "" : "open") : "refused";
  $("certificate").textContent = certificate ? certificate.status : answer.problem ?? "";
  $("score").replaceChildren(...(answer.fit ? [
    figure(share100(answer.fit.right), "right"),
    ...(fit.n > answer.fit.learned.length ? [figure(share100(1 - fit.errors(frame, 1) / (fit.n - answer.fit.learned.length)), "right in the test")] : []),
    ...[["objective", "criterion J"], ["gap", "gap to the bound"]].filter(([name]) => Number.isFinite(certificate[name]))
      .map(([name, label]) => figure(short(certificate[name]), label)),
  ] : []));
  $("ambiguity").textContent = answer.fit?.ambiguity?.text ?? "";
  $("notes").replaceChildren(...answer.notes.map((note) => Object.assign(document.createElement("li"), { textContent: note })));
  $("python").firstElementChild.textContent = answer.python;
  const views = answer.fit?.views ?? [];
  $("view").replaceChildren(...views.map((title, i) => new Option(title, i, false, i === answer.fit.view)));
  $("view").hidden = views.length < 2;
  $("hint").hidden = answer.fit !== null || Boolean(answer.verdict);
  $("hint").textContent = answer.problem ?? "";
}

function question() {
  const many = state.classes().length > 2, curved = state.choices.basis !== "none";
  return `Can ${many ? "a linear machine" : curved ? "a hyperplane" : "a line"} tell them apart?`;
}

const share100 = (share) => `${(100 * share).toFixed(share === 1 ? 0 : 1)} %`;

const figure = (value, label) => {
  const span = document.createElement("span"), b = document.createElement("b");
  b.textContent = value;
  span.append(b, label);
  return span;
};

function witness() {
  const found = verdict?.witness;
  $("witness").hidden = !found;
  if (!found) return;
  $("witness-rows").replaceChildren(...found.rows.map((i, j) => {
    const row = document.createElement("tr"), own = state.points[i]?.[2] ?? 1;
    const cells = [String(i + 1), own, found.rivals[j], found.exact[j] ? `${short(found.weights[j])} = ${found.exact[j]}` : short(found.weights[j])];
    cells.forEach((text, k) => {
      const cell = row.insertCell();
      if (k === 1 || k === 2) { const dot = document.createElement("span"); dot.className = "dot"; dot.style.setProperty("--c", `var(--c${text})`); cell.append(dot); }
      cell.append(String(text));
    });
    return row;
  }));
}

// One point

const where = ([x, y]) => `(${x.toFixed(2)}, ${y.toFixed(2)})`;

function about(i) {
  const p = state.points[i];
  const bits = [`Point ${i + 1}`, `class ${p[2]}`, where(p)];
  if (fit && fit.n === state.points.length) {
    const decided = fit.decisions(frame)[i];
    bits.push(decided < 0 ? "rejected" : decided === fit.own[i] ? "right" : `taken for ${fit.rule.classes[decided]}`);
    const found = fit.distance(frame, p[0], p[1]);
    if (found) bits.push(`${short(found.distance)} from the boundary`);
  }
  return bits.join(" · ");
}

function looked() {
  if (board.hover >= state.points.length) board.hover = -1;
  const i = board.selected >= 0 ? board.selected : board.hover;
  $("point").textContent = i >= 0 && i < state.points.length ? about(i) : "";
  board.draw();
}

function count() {
  const n = state.points.length;
  $("count").textContent = `${n} point${n === 1 ? "" : "s"}`;
  $("story").textContent = state.caption();
  $("preset").value = state.source.edited ? "" : state.source.name;
  $("file-problem").hidden = true; // of a file that was not taken: what is drawn now is something else
  const slider = document.querySelector("#noise-field input"), noise = state.source.noise || 0;
  if (+Number(slider.value).toPrecision(2) !== noise) { slider.value = noise; document.querySelector("#noise-field .value").textContent = noise; }
  address();
  $("undo").disabled = !state.past.length;
  $("redo").disabled = !state.future.length;
}

const say = (text, bad = false) => { $("status").textContent = text; $("status").classList.toggle("bad", bad); };
const announce = (text) => { $("live").textContent = text; };

// Playing

function pause() {
  if (timer) cancelAnimationFrame(timer);
  timer = null;
  $("play").querySelector("path").setAttribute("d", "M4 2.5v11L13 8z");
  $("play").setAttribute("aria-label", "Play");
}

function go(to) {
  pause();
  frame = Math.max(0, Math.min(fit ? fit.count - 1 : 0, to));
  show();
}

function play() {
  if (timer) { pause(); return; }
  if (!fit || fit.count < 2) return;
  if (frame >= fit.count - 1) frame = 0;
  $("play").querySelector("path").setAttribute("d", "M3.500 2.500h3v11h-3zM9.500 2.500h3v11h-3z");
  $("play").setAttribute("aria-label", "Pause");
  // Few steps are shown slowly, many within some seconds.
  const rate = Math.max(3, fit.count / 7) * Number($("speed").value), from = frame, started = performance.now();
  const tick = (now) => {
    const next = Math.min(fit.count - 1, from + Math.floor(((now - started) / 1000) * rate));
    if (next !== frame || next === from) { frame = next; show(); }
    if (frame >= fit.count - 1) { pause(); return; }
    timer = requestAnimationFrame(tick);
  };
  timer = requestAnimationFrame(tick);
}

// Beginning

function palette() {
  $("palette").append(...SHAPES.map((shape, i) => {
    const label = document.createElement("label");
    label.title = `Class ${i + 1} (key ${i + 1})`;
    label.style.setProperty("--c", `var(--c${i + 1})`);
    label.innerHTML = `<input type="radio" name="class" value="${i + 1}" aria-label="Class ${i + 1}"><span><svg viewBox="-12 -12 24 24" aria-hidden="true"><path d="${shape(8)}"/></svg></span>`;
    label.firstElementChild.checked = i === 0;
    label.firstElementChild.addEventListener("change", () => { board.colour = i + 1; });
    return label;
  }));
}

function choose(c) {
  board.colour = c;
  document.querySelector(`input[name="class"][value="${c}"]`).checked = true;
  if (board.selected >= 0) {
    state.keep();
    state.points[board.selected][2] = c;
    changed();
  }
  announce(`Class ${c}.`);
}

let classes = "";
function changed() {
  const now = state.classes().join();
  if (now !== classes) { classes = now; controls.renew(); }
  refit();
}

async function load(name) {
  const preset = options.presets.find((p) => p.name === name);
  const { points } = await ask("preset", { name, seed });
  state.replace(points, { name, title: preset.title, story: preset.story });
  board.selected = -1;
  classes = state.classes().join();
  controls.follow(preset);
  await refit();
}

function keys(event) {
  const typing = event.target.closest("input:not([type=radio]):not([type=checkbox]), select, textarea, dialog");
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    event.preventDefault();
    if (event.shiftKey ? state.redo() : state.undo()) { board.selected = -1; changed(); }
  } else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (/^[1-5]$/.test(event.key)) choose(Number(event.key));
  else if (event.key.toLowerCase() === "k") play();
  else if (event.key === ",") go(frame - 1);
  else if (event.key === ".") go(frame + 1);
}

function wire() {
  document.addEventListener("keydown", keys);
  for (const tool of document.querySelectorAll('input[name="tool"]')) tool.addEventListener("change", () => { board.tool = tool.value; });
  for (const box of document.querySelectorAll(".shows input")) {
    box.addEventListener("change", () => { board.shows[box.id.replace("show-", "")] = box.checked; show(); });
  }
  $("first").onclick = () => go(0);
  $("back").onclick = () => go(frame - 1);
  $("play").onclick = play;
  $("forth").onclick = () => go(frame + 1);
  $("last").onclick = () => go(fit ? fit.count - 1 : 0);
  $("scrub").oninput = () => go(Number($("scrub").value));
  $("undo").onclick = () => { if (state.undo()) { board.selected = -1; changed(); } };
  $("redo").onclick = () => { if (state.redo()) { board.selected = -1; changed(); } };
  $("clear").onclick = () => { state.keep(); state.points = []; board.selected = -1; changed(); };
  $("preset").onchange = () => { seed = 0; load($("preset").value); };
  $("again").onclick = () => { seed += 1; load(state.source.name || options.first); };
  $("open").onclick = () => $("file").click();
  $("file").onchange = () => { if ($("file").files.length) own($("file").files[0]); $("file").value = ""; };
  for (const kind of ["dragover", "dragleave", "drop"]) {
    $("board").addEventListener(kind, (event) => {
      event.preventDefault();
      $("board").classList.toggle("over", kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files.length) own(event.dataTransfer.files[0]);
    });
  }
  $("share").onclick = share;
  addEventListener("hashchange", () => { if (state.follow(location.hash.slice(1), options.presets)) { board.selected = -1; controls.renew(); refit(); } });
  $("help").onclick = () => $("keys").showModal();
  $("copy").onclick = () => copied($("python").textContent, $("copy"), "The Python is in the clipboard.");
  $("theme").onclick = () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; show(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (e) => { root.dataset.theme = e.matches ? "dark" : "light"; show(); });
  new ResizeObserver(() => show()).observe($("board"));
}

/** Copy a text and say so on the button. */
async function copied(text, button, message) {
  const before = button.textContent;
  try { await navigator.clipboard.writeText(text); } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  announce(message);
  setTimeout(() => { button.textContent = before; }, 1500);
}

async function begin() {
  root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  options = await ask("options");
  state = new State(options.limits);
  curve = new Curve($("curve"), $("curve-range"), go);
  globe = new Globe($("globe"), $("globe-text"));
  board = new Board($("board"), state, { changed, looked, say: announce, where, about });
  controls = new Controls(options, state, refit);
  palette();
  wire();
  if (location.hash.length > 1 && state.follow(location.hash.slice(1), options.presets)) { changed(); return; }
  const bad = location.hash.length > 1;
  await load(options.first);
  if (bad) say("The address holds no drawing that can be read; this is the first set of points.", true);
}

begin().catch((error) => say(error.message, true));
