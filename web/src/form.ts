// The policies of a run and their parameters: names, limits, units and help are those of the catalogue.

import type { Entry, Parameter, Policy } from "./protocol";

export interface Choice {
  kind: string;
  /** The policy; nothing to take it away. */
  policy: string;
  values: Record<string, string>;
}

/** What a place can take: why it refuses each of the other policies. */
export type Refusals = ReadonlyMap<string, string>;

const PERCENT = "size or %";
/** The name of policies that are data. */
export const PROGRAM = "program";
export const NEEDS_CODE = "a program needs its code: pushout lab SCENARIO --policy PORT=FILE.py puts it into the page";
/** Kinds of policies that a port has, with the words of the page. */
export const KINDS = { admission: "Admission policy", pushout: "Push-out", scheduler: "Scheduler", discipline: "Discipline" } as const;

/** Fields for the policies of one kind; `changed` gets the choice. */
export class PolicyForm {
  readonly root = document.createElement("div");
  private readonly select = document.createElement("select");
  private readonly fields = document.createElement("div");
  private readonly parameters = document.createElement("details");
  private readonly card = document.createElement("details");
  private values: Record<string, string> = {};
  /** The parameters of a policy in Python. */
  private own: Parameter[] | undefined;

  constructor(
    readonly kind: keyof typeof KINDS,
    private readonly entries: Entry[],
    private readonly changed: (choice: Choice) => void,
  ) {
    if (kind !== "admission") this.select.add(new Option("none", ""));
    for (const { name } of entries) this.select.add(new Option(name, name));
    this.select.onchange = () => {
      this.values = {};
      this.show();
      this.tell();
    };
    this.root.className = "policy";
    this.fields.className = "fields";
    const summary = document.createElement("summary");
    summary.textContent = "Parameters";
    this.parameters.append(summary, this.fields);
    this.root.append(labelled(KINDS[kind], this.select), this.parameters, this.card);
  }

  /** Show this policy with these parameters, which a run has. */
  set(given: Policy | string | null | undefined): void {
    const policy: Policy = typeof given === "string" ? { policy: given } : (given ?? { policy: "" });
    this.select.value = policy.policy;
    this.own = policy.policy === PROGRAM ? parametersOf(policy) : undefined;
    this.values = this.own ? {} : textsOf(policy);
    for (const option of this.select.options) {
      if (option.value === PROGRAM) option.textContent = this.own ? `${String(policy["name"])} (in Python)` : PROGRAM;
    }
    this.show();
  }

  /** Offer what the place takes; the others stay in the list with the reason, but cannot be chosen. */
  offer(refusals: Refusals): void {
    for (const option of this.select.options) {
      const why = refusals.get(option.value);
      option.disabled = why !== undefined && !option.selected;
      option.title = why ?? "";
    }
    const open = [...this.select.options].filter(({ disabled, value }) => !disabled && value !== "");
    this.root.hidden = open.length === 0;
  }

  private show(): void {
    const entry = this.entries.find(({ name }) => name === this.select.value);
    const parameters = entry?.name === PROGRAM ? this.own : entry?.params;
    this.fields.replaceChildren(...(parameters ?? []).map((param) => this.field(param)));
    this.parameters.hidden = this.fields.children.length === 0;
    this.card.hidden = !entry;
    const summary = document.createElement("summary");
    summary.textContent = `About ${this.select.value}`;
    const text = document.createElement("pre");
    text.tabIndex = 0; // it scrolls
    text.textContent = entry?.header ?? "";
    this.card.replaceChildren(summary, text);
  }

  private field(param: Parameter): HTMLElement {
    const value = this.values[param.name] ?? written(param.default);
    const share = param.unit === PERCENT ? percent(value) : undefined;
    const input = share === undefined ? control(param, value) : slider(share);
    const output = document.createElement("output");
    output.textContent = share === undefined ? "" : value;
    input.addEventListener("input", () => {
      if (input instanceof HTMLInputElement && input.type === "range") output.textContent = `${input.value} %`;
    });
    input.addEventListener("change", () => {
      const text = input instanceof HTMLInputElement && input.type === "range" ? `${input.value} %` : input.value;
      this.values = { ...this.values, [param.name]: text };
      this.tell();
    });
    const label = labelled(param.name, input);
    label.title = param.doc;
    label.append(output);
    return label;
  }

  private tell(): void {
    this.changed({ kind: this.kind, policy: this.select.value, values: this.values });
  }
}

/** The override that puts a choice at a port or into a memory, as `pushout run --set` takes it. */
export function override(key: string, { kind, policy, values }: Choice): string {
  if (kind === "discipline") return `${key}=${policy}`;
  const keys = Object.entries(values).filter(([, value]) => value !== "").map(([key, value]) => `, ${key} = ${literal(value)}`);
  return `${key}={ policy = "${policy}"${keys.join("")} }`;
}

/** The override of a policy in Python, and its parameters: those that were changed before, and now. */
export function withParameters(sets: string[], program: string | undefined, { values }: Choice): string[] {
  if (program === undefined) return [];
  const begin = `${program.slice(0, program.indexOf("="))}.params.`;
  const earlier = sets.filter((set) => set.startsWith(begin) && !Object.keys(values).some((name) => set.startsWith(`${begin}${name}=`)));
  return [program, ...earlier, ...Object.entries(values).map(([name, value]) => `${begin}${name}=${literal(value)}`)];
}

/** The parameters of a program, as the catalogue describes those of a scheme. */
function parametersOf({ params, limits }: Policy): Parameter[] {
  const bounds = (limits ?? {}) as Record<string, { low?: number; high?: number }>;
  return Object.entries((params ?? {}) as Record<string, unknown>).map(([name, value]) => {
    const { low, high } = bounds[name] ?? {};
    const type = typeof value === "string" ? "string" : typeof value === "boolean" ? "boolean" : "number";
    const schema = { type, ...(low === undefined ? {} : { minimum: low }), ...(high === undefined ? {} : { maximum: high }) };
    return { name, unit: /^[0-9.]+ *%$/.test(String(value)) ? PERCENT : "", default: value, doc: "", schema };
  });
}

/** The parameters of a policy as texts. */
function textsOf({ policy: _, ...values }: Policy): Record<string, string> {
  const texts = Object.entries(values).filter(([, value]) => value !== null && typeof value !== "object");
  return Object.fromEntries(texts.map(([key, value]) => [key, String(value)]));
}

function literal(value: string): string {
  return /^(true|false|[-+0-9.eE]+)$/.test(value) ? value : JSON.stringify(value);
}

function control(param: Parameter, value: string): HTMLInputElement | HTMLSelectElement {
  const words = param.schema.type === "boolean" ? ["true", "false"] : param.schema.enum;
  if (words) {
    const select = document.createElement("select");
    for (const word of words) select.add(new Option(word, word));
    select.value = value;
    return select;
  }
  const input = document.createElement("input");
  const { type, minimum, maximum } = param.schema;
  if (type === "number" || type === "integer") {
    Object.assign(input, { type: "number", step: type === "integer" ? "1" : "any" });
    if (minimum !== undefined) input.min = String(minimum);
    if (maximum !== undefined) input.max = String(maximum);
  } else {
    Object.assign(input, { type: "text", placeholder: param.unit });
  }
  input.value = value;
  return input;
}

function slider(share: number): HTMLInputElement {
  const input = document.createElement("input");
  Object.assign(input, { type: "range", min: "0", max: "100", step: "1" });
  input.value = String(Math.round(share));
  return input;
}

function percent(value: string): number | undefined {
  const share = /^([0-9.]+) *%$/.exec(value)?.[1];
  return share === undefined ? undefined : Number(share);
}

function written(value: unknown): string {
  return value === null || value === undefined ? "" : String(value);
}

function labelled(text: string, input: HTMLElement): HTMLLabelElement {
  const label = document.createElement("label");
  const name = document.createElement("span");
  name.textContent = text;
  label.append(name, input);
  return label;
}
