import { useEffect, useState } from "react";
import { TextField } from "../../ui/form/fields.tsx";

type Read = typeof import("./called-number.ts").calledNumber;

/** A number to call, which may be typed as it is dialed in the country of the calling number. */
export function PhoneNumberField({
  value,
  onChange,
  from,
  error,
}: {
  value: string;
  onChange: (typed: string) => void;
  from: string | undefined;
  error: string | undefined;
}) {
  const [read, setRead] = useState<{ by: Read } | null>(null);
  useEffect(() => {
    void loadReader().then(
      (by) => setRead({ by }),
      () => {},
    );
  }, []);
  const number = read?.by(value, from) ?? "";
  const isNational = /^\+\d{7,}$/.test(number) && !/^\s*(\+|00)/.test(value);
  return (
    <TextField
      label="Phone number"
      hint={isNational ? `Calls ${number}.` : "For example, +14155550123, or as you dial it from the calling number."}
      error={error}
      type="tel"
      required
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Reads what was typed. Its script, with the formats of all countries, loads only where a number is typed. */
export async function loadReader(): Promise<Read> {
  return (await import("./called-number.ts")).calledNumber;
}
