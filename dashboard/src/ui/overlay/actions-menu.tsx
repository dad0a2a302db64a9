import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { Button, type ButtonProps } from "../button.tsx";
import { Menu } from "./menu.tsx";

/** What can be done with a thing, behind a button with three dots. @param label such as `Actions for CRM` */
export function ActionsMenu({
  label,
  variant = "ghost",
  className = "relative",
  busy = false,
  children,
}: Pick<ButtonProps, "variant" | "className" | "busy"> & { label: string; children: ReactNode }) {
  return (
    <Menu
      trigger={
        <Button variant={variant} size="icon" className={className} busy={busy} aria-label={label}>
          {!busy && <Ellipsis aria-hidden />}
        </Button>
      }
    >
      {children}
    </Menu>
  );
}
