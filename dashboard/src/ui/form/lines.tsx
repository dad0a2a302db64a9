import { useEffect, useState } from "react";
import { Textarea } from "./input.tsx";

/** A list of texts, one a line. Empty lines are kept only while they are typed. */
export function Lines({
  value,
  onChange,
  ...control
}: {
  value: readonly string[];
  onChange: (value: string[]) => void;
  placeholder?: string;
  id: string;
  onFocus?: () => void;
  onBlur?: () => void;
}) {
  const [text, setText] = useState(value.join("\n"));
  const known = value.join("\n");
  useEffect(() => setText((typed) => (linesOf(typed).join("\n") === known ? typed : known)), [known]);
  return (
    <Textarea
      {...control}
      rows={2}
      className="field-sizing-content min-h-16"
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        onChange(linesOf(event.target.value));
      }}
    />
  );
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
