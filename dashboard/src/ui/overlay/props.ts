import type { ReactNode, RefObject } from "react";
import type { Trigger } from "./closed-trigger.tsx";

export interface MenuProps {
  /** The button. */
  trigger: Trigger;
  align?: "start" | "end";
  children: ReactNode;
}

export interface MenuItemProps {
  onSelect: () => void;
  danger?: boolean;
  disabled?: boolean;
  children: ReactNode;
}

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  description?: ReactNode;
  /** Its buttons, the main one last. */
  footer?: ReactNode;
  size?: "small" | "medium" | "large";
  children?: ReactNode;
}

export interface OpenedDialogProps extends DialogProps {
  /** The element that had the focus before, and gets it back. */
  opener: RefObject<HTMLElement | null>;
}

export interface PopoverProps {
  /** The button. */
  trigger: Trigger;
  /** Named for screen readers. */
  label: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
}

export interface DrawerProps {
  /** For screen readers. */
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
}
