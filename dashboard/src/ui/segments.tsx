import { clsx } from "clsx";
import { useShownFirst } from "./painted.ts";

/** A choice between a few words side by side, one of which is always chosen. @param label what the choice is about, for screen readers */
export function Segments<Value extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly { value: Value; label: string }[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const [chosen, choose] = useShownFirst(value, onChange);
  return (
    <fieldset
      aria-label={label}
      className="inline-flex max-w-full min-w-0 flex-wrap self-start rounded-lg bg-hover p-0.5"
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === chosen}
          onClick={() => choose(option.value)}
          className={clsx(
            "rounded-md px-2.5 py-1 text-[0.8125rem] font-medium whitespace-nowrap outline-offset-[-2px]",
            option.value === chosen ? "bg-chosen text-ink shadow-sm" : "text-muted hover:text-ink",
          )}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
