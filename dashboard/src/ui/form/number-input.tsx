import type { ComponentProps } from "react";
import { Input } from "./input.tsx";

/** A field for a number. @param value null for an empty field */
export function NumberInput({
  value,
  onChange,
  ...props
}: Omit<ComponentProps<"input">, "value" | "onChange" | "type"> & {
  value: number | null;
  onChange: (value: number | null) => void;
}) {
  return (
    <Input
      {...props}
      type="number"
      value={value ?? ""}
      onChange={({ target }) => onChange(target.value === "" ? null : Number(target.value))}
    />
  );
}
