import { clsx } from "clsx";
import { type ReactNode, useId } from "react";
import { useTold } from "./refusal.tsx";

export interface Control {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  optional?: boolean | undefined;
  className?: string | undefined;
  /** Gets the attributes that connect the control with its label and texts. */
  children: (control: Control) => ReactNode;
}

/** A labeled control with its hint, and the error that the API reported for it. */
export function Field({ label, hint, error, optional = false, className, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  return (
    <div className={clsx("flex min-w-0 flex-col gap-1.5", className)}>
      <label htmlFor={id} className="flex items-baseline gap-2 font-medium">
        {label}
        {optional && <span className="text-xs font-normal text-muted">Optional</span>}
      </label>
      {children({ id, "aria-describedby": described, "aria-invalid": error ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className="text-[0.8125rem] text-muted">
          {hint}
        </p>
      )}
      <FieldError id={`${id}-error`}>{error}</FieldError>
    </div>
  );
}

/** What is wrong with what is above it, and nothing while nothing is. */
export function FieldError({ children, ...rest }: { className?: string; children: ReactNode; id?: string }) {
  return children ? <Message {...rest}>{children}</Message> : null;
}

function Message({ className, children, id }: { className?: string; children: ReactNode; id?: string }) {
  useTold(children);
  return (
    <p id={id} role="alert" className={clsx("text-[0.8125rem] text-danger-ink", className)}>
      {children}
    </p>
  );
}
