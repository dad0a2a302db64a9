import { Checkbox } from "../../../../ui/form/checkbox.tsx";
import { NumberField } from "../../../../ui/form/fields.tsx";

/** What a run or a replay may cost. */
export interface CostCap {
  max_cost_usd: number | null;
  unpriced: "allow" | null;
}

export const NO_CAP: CostCap = { max_cost_usd: null, unpriced: null };

/** Asks what the models may cost. */
export function CostCapFields({
  value,
  onChange,
  errorAt,
}: {
  value: CostCap;
  onChange: (value: CostCap) => void;
  errorAt: (path: string) => string | undefined;
}) {
  return (
    <>
      <NumberField
        label="Cost at most (US dollars)"
        optional
        hint="Once the models have cost as much, no further conversation begins."
        error={errorAt("max_cost_usd") ?? errorAt("unpriced")}
        min={0.000001}
        max={10_000}
        step="any"
        placeholder="No limit"
        value={value.max_cost_usd}
        onChange={(max_cost_usd) => onChange({ ...value, max_cost_usd })}
      />
      {value.max_cost_usd !== null && (
        <Checkbox
          checked={value.unpriced === "allow"}
          onChange={(isAllowed) => onChange({ ...value, unpriced: isAllowed ? "allow" : null })}
          label="Count models without a known price as free"
          hint="Otherwise such a model is refused, because its cost cannot be limited."
        />
      )}
    </>
  );
}
