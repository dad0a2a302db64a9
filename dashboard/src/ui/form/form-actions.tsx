import type { ReactNode } from "react";

/** The buttons at the end of a dialog's form, which stay visible however long the form is. */
export function FormActions({ children }: { children: ReactNode }) {
  return (
    <div className="sticky -bottom-3 -mx-5 -mb-3 flex flex-wrap justify-end gap-2 rounded-b-xl border-t border-line bg-raised px-5 py-3">
      {children}
    </div>
  );
}
