import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { Input } from "./input.tsx";

/** Milliseconds of pause, long enough that a word is not searched letter by letter. */
const PAUSE_MS = 250;

/** Searches when typing pauses. */
export function SearchInput({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <div className="relative w-full sm:w-72">
      <Search className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted" aria-hidden />
      <Input
        type="search"
        aria-label={label}
        placeholder={label}
        className="h-8! border-line! pl-8! text-[0.8125rem]"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
}
