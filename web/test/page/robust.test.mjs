// What is asked of the page from outside: links that are wrong, huge or hostile, long ways, other policies, the policy of content.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { engine } from "../engine.mjs";
import { experiments, scenario } from "../../presets.mjs";
import { address, click, open, scrub, skip, text, withBrowser } from "./browser.mjs";

const link = (...view) => `#${encodeURIComponent(JSON.stringify(view))}`;
const huge = "9".repeat(400);
const script = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>";
const runs = (...sets) => [1, "marks", sets.map((set) => [].concat(set)), 0];
const incast = (...sets) => link(...runs(sets, sets));
const at = (now) => link(1, "marks", [[], []], now);

/** Links that the page must answer at once: what it says, or that it shows something. */
const HOSTILE = {
  "no JSON": ["#%5B1", /damaged/],
  "half an escape": ["#%", /damaged/],
  "an object": [`#${encodeURIComponent("{}")}`, /damaged/],
  "null": ["#null", /no scenario null/],
  "an empty list": [link(), /version nothing/],
  "another version": [link(3, "marks", [[]], 0), /has version 3/],
  "a scenario without its text": [link(2, "marks", [[]], 0), /no text of a scenario/],
  "a number as text": [link(2, "mine", [[]], 0, null, 7), /no text of a scenario/],
  "a text that is no scenario": [link(2, "mine", [[]], 0, null, script), /must be TOML or JSON/],
  "a part too many behind a text": [link(2, "mine", [[]], 0, null, "", 1), /at most 6 parts/],
  "a version of text": [link("1", "marks", [[]], 0), /has version "1"/],
  "a list as version": [link([[[[]]]], "marks", [[]], 0), /has version/],
  "no preset": [link(1, null, [[]], 0), /names no experiment/],
  "a number as preset": [link(1, 7, [[]], 0), /names no experiment/],
  "an unknown preset": [link(1, "mark", [[]], 0), /no scenario mark/],
  "an unknown name": ["#nothing-of-the-kind", /no scenario nothing-of-the-kind/],
  "__proto__": ["#__proto__", /no scenario __proto__/],
  "constructor": ["#constructor", /no scenario constructor/],
  "a script as preset": [link(1, script, [[]], 0), /no scenario <script>/],
  "a long preset": [link(1, "x".repeat(50_000), [[]], 0), /no scenario xxx/],
  "no runs": [link(1, "marks", [], 0), /1 or 2 runs, not 0/],
  "three runs": [link(1, "marks", [[], [], []], 0), /1 or 2 runs, not 3/],
  "10 000 runs": [link(1, "marks", Array(10_000).fill([]), 0), /1 or 2 runs, not 10000/],
  "100 000 runs": [link(1, "marks", Array(100_000).fill([]), 0), /at most 100000 letters/],
  "a megabyte": [`#${"x".repeat(1_000_000)}`, /at most 100000 letters/],
  "runs of numbers": [link(1, "marks", [[1], [2]], 0), /not lists of overrides/],
  "runs of objects": [link(1, "marks", [{}, {}], 0), /not lists of overrides/],
  "runs as text": [link(1, "marks", "[[]]", 0), /not lists of overrides/],
  "null as run": [link(1, "marks", [null], 0), /not lists of overrides/],
  "nested runs": [link(1, "marks", [[["seed=1"]]], 0), /not lists of overrides/],
  "now = -1e12": [at(-1e12), /must be 0 or more, not -1000000000000/],
  "now = -1": [at(-1), /must be 0 or more, not -1/],
  "now = NaN": [at(NaN), /must be 0 or more, not null/],
  "now = 1e308": [at(1e308), /must be 0 or more, not 1e\+308/],
  "now = 2^60": [at(2 ** 60), /must be 0 or more/],
  "now as text": [at("0"), /must be 0 or more, not "0"/],
  "no now": [link(1, "marks", [[]]), /must be 0 or more, not nothing/],
  "now far behind the end": [at(9e15), undefined],
  "half a picosecond": [at(0.5), undefined],
  "a number as port": [link(1, "marks", [[]], 0, 7), /port of the link must be a name, not 7/],
  "an unknown port": [link(1, "marks", [[]], 0, "bottelneck"), /bottleneck/],
  "a script as port": [link(1, "marks", [[]], 0, script), /unknown port/],
  "a sixth part": [link(1, "marks", [[]], 0, "bottleneck", 1), /at most 5 parts, not 6/],
  "seed=abc": [incast("seed=abc"), /seed must be a whole number from 0 to 18446744073709551615, not "abc"/],
  "seed=2^64": [incast("seed=18446744073709551616"), /seed must be a whole number/],
  "seed=-1": [incast("seed=-1"), /seed must be a whole number/],
  "seed=1e3": [incast("seed=1e3"), /seed must be a whole number/],
  "seed=": [incast("seed="), /seed must be a whole number/],
  "a seed of 400 digits": [incast(`seed=${huge}`), /seed must be a whole number/],
  "no key": [incast("duration"), /KEY=VALUE, not "duration"/],
  "an empty override": [incast(""), /KEY=VALUE, not ""/],
  "a script as override": [incast(script), /KEY=VALUE, not/],
  "an unknown key": [incast("flows.sauce=1"), /flows.*source/],
  "an unknown section": [incast("prot.bottleneck.buffer=1 kB"), /port/],
  "an unknown policy": [incast("port.bottleneck.admission={ policy = \"stepp\" }"), /step/],
  "a script as policy": [incast(`port.bottleneck.admission={ policy = "${script.replaceAll("'", "")}" }`), /policy/],
  "a program without code": [incast("port.bottleneck.admission={ policy = \"program\" }"), /"program" needs its code/],
  "an empty program": [incast("port.bottleneck.admission={ policy = \"program\", code = [] }"), /./],
  "half a table": [incast("port.bottleneck.admission={ policy = "), /./],
  "a duration without end": [incast("duration=inf"), /duration/],
  "a negative duration": [incast("duration=-1 s"), /duration/],
  "a duration of 10^9 s": [incast("duration=1000000000 s"), undefined],
  "no duration": [incast("duration=0 s"), /duration/],
  "no source": [incast("topology.sources=0"), /sources/],
  "a sample each picosecond": [link(1, "marks", [["sample=1 ps"], ["sample=1 ps"]], 60e9), undefined],
  "-1 sources": [incast("topology.sources=-1"), /sources/],
  "2^63 sources": [incast("topology.sources=9223372036854775807"), /sources/],
  "1000 sources": [incast("topology.sources=1000"), undefined],
  "10^5 sources": [incast("topology.sources=100000"), undefined],
  "a buffer of 2^60": [incast("port.bottleneck.buffer=1152921504606846976 bytes"), undefined],
  "a file": [incast("flows.source={ kind = \"replay\", file = \"/etc/passwd\" }"), /./],
  "a rate of 0": [incast("topology.bottleneck.rate=0 b/s"), /rate/],
  "50 000 letters": [incast(`title=${"x".repeat(20_000)}`), undefined],
  "a line break": [incast("name=a\nb\u0000\u202e"), undefined],
};

/** Follow a link in the page; how long it took until the page had an answer or a question, and which. */
function followed(hash) {
  return new Promise((resolve) => {
    const begun = performance.now();
    const isShown = (id) => document.getElementById(id).getClientRects().length > 0;
    const watch = new MutationObserver(() => {
      if (!document.documentElement.dataset.ready) return;
      watch.disconnect();
      const message = document.getElementById("message").textContent;
      resolve({ took: performance.now() - begun, message, asks: isShown("ask"), shows: document.querySelectorAll(".panel canvas").length > 0 });
    });
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-ready"] });
    location.hash = hash;
  });
}

/** Allow the work of a link, which a busy machine has not done in 2 s; answer the message that comes of it. */
async function allowed(page) {
  await page.click("#go");
  const shown = await page.waitForFunction(() => document.getElementById("message").textContent, null, { timeout: 60_000 });
  return shown.jsonValue();
}

/** A link takes less than a second on an idle machine; one that locks the page takes minutes, on a loaded one too. */
const STUCK = 5000;

describe("links that others wrote", { skip }, () => {
  withBrowser();

  test(`${Object.keys(HOSTILE).length} hostile links are answered at once, or asked about`, { timeout: 600_000 }, async () => {
    assert.ok(Object.keys(HOSTILE).length >= 60);
    const { page, said } = await open("wide");
    await page.evaluate(`window.followed = ${followed}`);
    const slow = [];
    for (const [name, [hash, expected]] of Object.entries(HOSTILE)) {
      const { took, message, asks, shows } = await page.evaluate((hash) => window.followed(hash), hash);
      if (took > STUCK) slow.push(`${name}: ${Math.round(took)} ms`);
      if (expected) assert.match(asks ? await allowed(page) : message, expected, name);
      else assert.ok(asks || (shows && !message.includes("damaged")), `${name}: ${message}`);
      assert.ok(message.length <= 400, `${name}: a message of ${message.length} letters`);
      if (asks && !expected) await page.click("#leave");
    }
    assert.deepEqual(slow, []);
    assert.equal(await page.evaluate(() => window.hit), undefined, "no script of a link has run");
    assert.deepEqual(said, []);
    await click(page, "unit");
    await page.close();
  });

  test("a link carries a whole scenario, and the address keeps it", async () => {
    const carried = scenario("incast").replace('name = "incast"', 'name = "mine"');
    const { page, said } = await open("wide", { hash: link(2, "mine", [["duration=20 ms"]], 5e9, null, carried) });
    assert.equal(await text(page, "#message"), "");
    assert.equal(await page.locator("#preset").inputValue(), "mine");
    const kept = JSON.parse(decodeURIComponent(new URL(page.url()).hash.slice(1)));
    assert.deepEqual([kept[0], kept[1], kept[5]], [2, "mine", carried]);
    assert.deepEqual(said, []);
    await page.close();
  });

  test("a link with much work asks first, shows its progress, and can be cancelled", async () => {
    const far = link(1, "marks", [["duration=5 s", "topology.sources=200"], ["duration=5 s"]], 5e12);
    const { page } = await open("wide", { hash: far, as: "found" });
    assert.match(await text(page, "#question"), /This link needs .* of work before it can be shown/);
    assert.equal(await page.evaluate(() => document.activeElement.id), "go");
    await page.click("#go");
    await page.waitForSelector("#work:visible");
    assert.match(await text(page, "#doing"), /^Opening the runs(, \d+ %)?$/);
    await page.waitForFunction(() => document.getElementById("progress").value > 0);
    await page.click("#cancel");
    await page.waitForSelector("#work", { state: "hidden" });
    await page.selectOption("#preset", "home");
    await page.waitForFunction(() => document.querySelector(".panel h2")?.textContent === "A tail drop");
    await page.close();
  });

  test("the newest choice wins while another one still works", async () => {
    const { page } = await open("wide", { hash: "#marks" });
    await page.evaluate((hash) => (location.hash = hash), link(1, "incast", [["duration=100 s"], ["duration=100 s"]], 1e14));
    await page.click("#go");
    await page.waitForSelector("#work:visible");
    const begun = performance.now();
    await page.selectOption("#preset", "home");
    await page.waitForFunction(() => document.querySelector(".panel h2")?.textContent === "A tail drop");
    assert.ok(performance.now() - begun < 5000, "it does not wait for the other one");
    await page.close();
  });

  test("a search without an end can be cancelled, and the page stays where it is", async () => {
    const { page } = await open("wide", { hash: link(1, "incast", [["duration=1000 s", "flows.source={ kind = \"file\", size = \"1 kB\", every = \"1 s\" }"]], 0) });
    const now = await text(page, "#now");
    await page.click("#mark");
    await page.waitForSelector("#work:visible");
    assert.match(await text(page, "#doing"), /the next mark/);
    await page.keyboard.press("Escape");
    await page.waitForSelector("#work", { state: "hidden" });
    assert.equal(await text(page, "#now"), now);
    await click(page, "unit");
    await page.close();
  });

  test("what is chosen while a link opens is shown, not the first experiment and no message", async () => {
    const { page } = await open("wide", { hash: "#marks" });
    await page.goto("about:blank");
    await page.goto(address() + link(1, "incast", [["duration=10 s"], ["duration=10 s"]], 9e12), { waitUntil: "commit" });
    await page.waitForFunction(() => document.querySelectorAll("#preset option").length > 5);
    await page.selectOption("#preset", "random");
    await page.waitForFunction(() => document.querySelector(".panel h2")?.textContent.startsWith("A at random"));
    await page.waitForSelector("html[data-ready]");
    assert.equal(await page.locator("#preset").inputValue(), "random");
    assert.equal(await text(page, "#message"), "");
    await page.close();
  });

  test("a seed of 64 bits is the seed of the run", async () => {
    const seed = "18446744073709551557";
    const preset = experiments().find(({ name }) => name === "random");
    const sets = [preset.runs[0].concat(`seed=${seed}`), preset.runs[1]];
    const { page } = await open("wide", { hash: link(1, "random", sets, 0) });
    const ask = await engine();
    const document = JSON.parse(ask({ do: "run", text: scenario(preset.file), name: preset.file, sets: preset.runs[0], seed }));
    const lost = Object.values(document.ports.find(({ name }) => name === "bottleneck").lost).reduce((sum, many) => sum + many, 0);
    await page.waitForFunction(() => /\d/.test(document.querySelector(".score tr:last-child td")?.textContent ?? ""));
    assert.equal((await text(page, ".score tr:last-child td")).replaceAll(/[^\d]/g, ""), String(lost));
    assert.match(await text(page, "#command"), new RegExp(`--seed ${seed} `));
    await page.close();
  });

  test("nothing is loaded from elsewhere, and no other script runs", async () => {
    const { page } = await open("wide", { from: "http" });
    const broken = await page.evaluate(async () => {
      const found = [];
      addEventListener("securitypolicyviolation", ({ effectiveDirective }) => found.push(effectiveDirective));
      await fetch(location.href).catch(() => {});
      for (const [kind, key] of [["img", "src"], ["iframe", "src"], ["script", "src"], ["object", "data"]]) {
        document.body.append(Object.assign(document.createElement(kind), { [key]: `${location.origin}/other` }));
      }
      setTimeout(() => new Function("return 1")());
      await new Promise((resolve) => setTimeout(resolve, 500));
      return found;
    });
    for (const directive of ["connect-src", "img-src", "frame-src", "script-src-elem", "object-src", "script-src"]) {
      assert.ok(broken.includes(directive), `${directive} in ${broken}`);
    }
    await page.close();
  });
});

describe("what can be chosen and reached", { skip }, () => {
  withBrowser();

  test("each place offers what it takes, and says why it refuses the others", async () => {
    const { page } = await open("wide", { hash: "#memory" });
    const admission = page.locator(".more").first().locator(".policy").first().locator("select").first();
    await page.waitForFunction(() => document.querySelectorAll(".more .policy option:disabled").length > 10);
    const options = await admission.evaluate((select) => [...select.options].map(({ value, disabled, title }) => ({ value, disabled, title })));
    const { file, runs } = experiments().find(({ name }) => name === "memory");
    const ask = await engine();
    for (const { value, disabled, title } of options.filter(({ value }) => value !== "program")) {
      const sets = ["duration=10 ms", "warmup=0 s", `memory.chip.admission={ policy = "${value}" }`];
      const { error } = JSON.parse(ask({ do: "toml", text: scenario(file), name: file, sets }));
      assert.equal(disabled, error !== undefined, `${value}: ${error}`);
      if (disabled) assert.ok(title.length > 10, value);
    }
    assert.ok(options.find(({ value }) => value === "program").disabled && runs.length === 2);
    const kinds = await page.locator(".more").first().locator(".policy:visible > label > span").allInnerTexts();
    assert.ok(kinds.includes("Scheduler"), kinds.join());
    await page.close();
  });

  test("a scheduler and push-out can be chosen", async () => {
    const { page } = await open("wide", { hash: "#frames" });
    const forms = page.locator(".more").first().locator(".policy");
    await forms.nth(2).locator("select").first().selectOption("round-robin");
    await page.waitForFunction(() => document.querySelector("#command").textContent.includes("scheduler"));
    await forms.nth(1).locator("select").first().selectOption("pushout-2");
    await page.waitForFunction(() => document.querySelector("#command").textContent.includes("pushout-2"));
    assert.match(await text(page, ".facts"), /push-out pushout-2 · scheduler round-robin/);
    await page.close();
  });

  test("play at the end begins again", async () => {
    const { page } = await open("wide", { hash: "#marks" });
    const end = await scrub(page, 1000);
    await page.click("#play");
    await page.waitForFunction((end) => Number(document.getElementById("now").textContent.replaceAll(/[^\d.]/g, "")) < end / 2, 0.06);
    assert.match(end, /^0\.060/);
    await page.close();
  });

  test("a frame is followed by keyboard, and the speed is said in words", async () => {
    const { page } = await open("wide", { hash: "#small-buffer" });
    await click(page, "drop");
    await page.locator(".panel canvas").first().focus();
    await page.keyboard.press("Enter");
    const first = await text(page, ".fate");
    assert.match(first, /flow\d+, frame \d+: \d+ in the buffer/);
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await text(page, ".fate"), first);
    await page.keyboard.press("ArrowUp");
    assert.equal(await text(page, ".fate"), first);
    assert.equal(await page.locator("#pace").getAttribute("aria-valuetext"), "2 ms per second");
    const names = await page.locator(".uplot").evaluateAll((plots) => plots.map((plot) => plot.getAttribute("aria-label")));
    assert.ok(names.length === 4 && names.every((name) => /^[^:]+: .*\d/.test(name)), names.join("; "));
    await page.close();
  });

  test("the control in the sentence runs B again up to the same instant", async () => {
    const { page } = await open("wide", { hash: "#memory" });
    const now = await text(page, "#now");
    const [a, b] = await page.locator(".facts").allInnerTexts();
    await page.locator("#look select").selectOption("8.0");
    await page.waitForFunction(() => document.querySelectorAll(".panel h2")[1]?.textContent === "B α = 8");
    assert.equal(await text(page, "#now"), now);
    const after = await page.locator(".facts").allInnerTexts();
    assert.notEqual(a, b);
    assert.deepEqual(after, [a, a], "with one value both runs are one");
    await page.close();
  });

  test("the goodput of all flows is shown, and figures of 16 of them say so", async () => {
    const { page } = await open("wide", { hash: "#incast" });
    assert.match(await text(page, ".key em"), /^the first 16 of 32 flows$/);
    await scrub(page, 1000);
    await page.locator("#table summary").click();
    await page.waitForSelector("#table tbody td"); // the page hears of the click later
    const cells = await page.locator("#table tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map(({ textContent }) => textContent)));
    const at = cells[0].indexOf("delivered_bytes_all_flows");
    const delivered = Number(cells.filter(([run]) => run === "A").at(-1)[at]);
    const preset = experiments().find(({ name }) => name === "incast");
    const ask = await engine();
    const { flows } = JSON.parse(ask({ do: "run", text: scenario(preset.file), name: preset.file, sets: preset.runs[0] }));
    const whole = flows.reduce((sum, flow) => sum + (flow.goodput_bps * 0.1) / 8, 0);
    assert.ok(Math.abs(delivered - whole) < 1e-3 * whole, `${delivered} of ${whole}`);
    await page.close();
  });
});

describe("why a frame was lost", { skip }, () => {
  withBrowser();

  /** Follow the latest loss of run A and ask why; answer its flow and the number of its frame. */
  async function ask(page) {
    const item = page.locator(".more").first().locator(".drops button").first();
    const [, flow, frame] = /(\S+), frame (\d+), unit/.exec(await item.innerText());
    await item.click();
    await page.getByRole("button", { name: "Why was this one lost?" }).click();
    return { flow, frame: Number(frame) };
  }

  /** What the engine answers about the decisions before. */
  async function found(preset, sets, { flow, frame }, last) {
    const engine_ = await engine();
    const question = { at: ["bottleneck"], flow, frame, last, sets: 0 };
    return JSON.parse(engine_({ do: "why", text: scenario(preset.file), name: preset.file, sets: [...sets, "warmup=0 s"], question }));
  }

  /** How many decisions the page says that it has tried. */
  const tried = async (page) => Number(/the ([\d,]+) decisions/.exec(await text(page, ".why p"))?.[1].replaceAll(",", ""));

  test("a search shows its progress, a cancelled one keeps what it has found, and a decision is B", { timeout: 300_000 }, async () => {
    const { page, said } = await open("wide", { hash: "#marks" });
    await click(page, "drop");
    // the page itself cancels at the first decision beside a progress: from outside, the search may end before
    await page.evaluate(() => {
      const watch = new MutationObserver(() => {
        const [found, doing] = [document.querySelector(".why button"), document.getElementById("doing").textContent];
        if (!found?.textContent.includes("losses, not") || !/^Trying decisions before the loss, [1-9]\d* %$/.test(doing)) return;
        watch.disconnect();
        document.getElementById("cancel").click();
        document.body.dataset.cancelled = doing;
      });
      watch.observe(document.body, { childList: true, characterData: true, subtree: true });
    });
    const lost = await ask(page);
    await page.waitForSelector("body[data-cancelled]", { timeout: 240_000 });
    await page.waitForSelector("#work", { state: "hidden" });
    const preset = experiments().find(({ name }) => name === "marks");
    const expected = await found(preset, preset.runs[0], lost, await tried(page));
    assert.ok((await text(page, ".why p")).startsWith(`${expected.saves.length} of the ${expected.decisions} decisions before would have saved it`));
    const best = Math.min(...expected.saves.map(({ losses }) => losses));
    const button = page.locator(".why button").first();
    const [, saved] = /frame (\d+) of flow\d+ at/.exec(await button.innerText());
    assert.match(await button.innerText(), new RegExp(`: ${best.toLocaleString("en-GB")} losses, not ${expected.losses.toLocaleString("en-GB")}$`));
    await button.click();
    await page.waitForFunction((frame) => document.querySelectorAll(".panel h2")[1]?.textContent.startsWith(`B without frame ${frame} of flow`), saved);
    await page.click("#difference");
    await page.waitForFunction(() => document.getElementById("message").textContent.startsWith("First difference"));
    assert.match(await text(page, "#message"), new RegExp(`B: flow\\d+, frame ${saved}, unit 0 lost: `), "B loses that frame and A keeps it");
    assert.deepEqual(said, []);
    await page.close();
  });

  test("200 decisions are tried, and then earlier ones", { timeout: 300_000 }, async () => {
    const preset = experiments().find(({ name }) => name === "random");
    const { page } = await open("wide", { hash: link(1, "random", [preset.runs[0], preset.runs[1]], 4e10) });
    await click(page, "drop");
    const lost = await ask(page);
    await page.waitForFunction(() => document.querySelector(".why p")?.textContent.includes("the 200 decisions"), undefined, { timeout: 240_000 });
    assert.equal(await tried(page), 200);
    const expected = await found(preset, preset.runs[0], lost, 200);
    assert.ok((await text(page, ".why p")).startsWith(`${expected.saves.length} of the 200 decisions`));
    await page.getByRole("button", { name: "Try earlier decisions" }).click();
    await page.waitForFunction(() => document.querySelector(".why p").textContent.includes("the 400 decisions"), undefined, { timeout: 240_000 });
    await page.close();
  });

  test("what if goes on beside losses by intent, on cells", { timeout: 300_000 }, async () => {
    const preset = experiments().find(({ name }) => name === "random");
    const own = [...preset.runs[0], "loss=[{ link = \"bottleneck\", cells = [5, 9] }]"];
    const { page, said } = await open("wide", { hash: link(1, "random", [own, own], 4e10) });
    await click(page, "drop");
    await ask(page);
    await page.waitForSelector(".why button:has-text('losses, not')", { timeout: 240_000 });
    await page.keyboard.press("Escape");
    await page.waitForSelector("#work", { state: "hidden" });
    const button = page.locator(".why button").first();
    const [, saved] = /frame (\d+) of \S+ at/.exec(await button.innerText());
    await button.click();
    await page.waitForFunction((frame) => document.querySelectorAll(".panel h2")[1]?.textContent.startsWith(`B without frame ${frame} of `), saved);
    assert.match(await text(page, "#command"), /loss=\[\{ link = "bottleneck", cells = \[5, 9\] \}, \{ link = "bottleneck", flow = "[^"]+", frames = \[\d+\] \}\]/);
    await page.click("#difference");
    await page.waitForFunction(() => document.getElementById("message").textContent.startsWith("First difference"));
    assert.match(await text(page, "#message"), new RegExp(`B: \\S+, frame ${saved}, unit 0 lost: link`));
    assert.deepEqual(said, []);
    await page.close();
  });
});
