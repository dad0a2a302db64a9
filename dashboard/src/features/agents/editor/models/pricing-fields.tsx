import { TextField } from "../../../../ui/form/fields.tsx";

/** US dollars per million tokens. Incomplete while it is typed; the API says what is missing or too much. */
export interface Pricing {
  input?: number;
  output?: number;
  cached_input?: number;
}

const PRICES = [
  { name: "input", label: "Input price", placeholder: "Unknown" },
  { name: "output", label: "Output price", placeholder: "Unknown" },
  { name: "cached_input", label: "Cached input price", placeholder: "Same as input" },
] as const;

/** What an owner's own model costs. Without it, the cost of its replies is unknown. */
export function PricingFields({
  pricing,
  onChange,
  path,
  errorAt,
}: {
  pricing: Pricing;
  /** Gets undefined when no price is left. */
  onChange: (pricing: Pricing | undefined) => void;
  path: string;
  errorAt: (path: string) => string | undefined;
}) {
  const change = (name: keyof Pricing, text: string) => {
    const { [name]: _, ...others } = pricing;
    const changed = text === "" ? others : { ...others, [name]: Number(text) };
    onChange(Object.keys(changed).length > 0 ? changed : undefined);
  };
  return (
    <div className="grid gap-5 sm:grid-cols-3">
      {PRICES.map(({ name, label, placeholder }) => (
        <TextField
          key={name}
          label={label}
          optional
          hint="US dollars per million tokens"
          error={errorAt(`${path}.${name}`) ?? (name === "input" ? errorAt(path) : undefined)}
          type="number"
          min={0}
          step="any"
          placeholder={placeholder}
          value={pricing[name] ?? ""}
          onChange={({ target }) => change(name, target.value)}
        />
      ))}
    </div>
  );
}
