import { type ComponentProps, type ReactNode, useState } from "react";
import { Button, type ButtonProps } from "../button.tsx";
import { Confirm } from "./confirm.tsx";

/** A button for what has to be confirmed. @param label what it shows */
export function ConfirmButton<Result>({
  label,
  button,
  ...confirm
}: Omit<ComponentProps<typeof Confirm<Result>>, "open" | "onClose"> & { label: ReactNode; button?: ButtonProps }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setAsking(true)}>
        {label}
      </Button>
      <Confirm {...confirm} open={isAsking} onClose={() => setAsking(false)} />
    </>
  );
}
