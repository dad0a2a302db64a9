import { Select } from "../../ui/form/select.tsx";
import { type Days, PERIODS } from "./queries.ts";

const OPTIONS = PERIODS.map((days) => ({ value: String(days), label: `Last ${days} days` }));

export function PeriodSelect({ days, onChange }: { days: Days; onChange: (days: Days) => void }) {
  return (
    <div className="w-36">
      <Select
        quiet
        aria-label="Period"
        value={String(days)}
        onChange={(value) => onChange(Number(value) as Days)}
        options={OPTIONS}
      />
    </div>
  );
}
