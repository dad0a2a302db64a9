import { Button, type ButtonProps } from "./button.tsx";
import { useShownFirst } from "./painted.ts";

/** A button that stays pressed. It is marked before what it shows is rendered, and until then renders alone. */
export function ToggleButton({
  pressed,
  onChange,
  ...props
}: Omit<ButtonProps, "onClick" | "onChange"> & { pressed: boolean; onChange: (pressed: boolean) => void }) {
  const [isPressed, press] = useShownFirst(pressed, onChange);
  return <Button {...props} aria-pressed={isPressed} onClick={() => press(!isPressed)} />;
}
