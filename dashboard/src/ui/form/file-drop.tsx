import { clsx } from "clsx";
import { FileUp } from "lucide-react";
import { useState } from "react";
import type { Control } from "./field.tsx";

/**
 * A field for files, which can also be dropped on it.
 * @param name of the chosen file
 * @param prompt what it says until one is chosen
 * @param multiple takes several at once, and then further ones
 */
export function FileDrop({
  accept,
  name,
  prompt,
  multiple = false,
  onChoose,
  ...control
}: {
  accept: string;
  name?: string | undefined;
  prompt: string;
  multiple?: boolean;
  onChoose: (files: readonly File[]) => void;
  "aria-label"?: string;
} & Partial<Control>) {
  const [isOver, setOver] = useState(false);
  return (
    <div
      className={clsx(
        "relative flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-dashed px-4 py-5",
        "focus-within:outline-2 focus-within:outline-accent",
        isOver ? "border-accent bg-accent-soft" : "border-line-strong bg-surface",
      )}
    >
      <FileUp className="size-5 shrink-0 text-muted" aria-hidden />
      <span className="min-w-0 flex-1 break-words" aria-hidden>
        {name ? <span className="font-medium">{name}</span> : prompt}
      </span>
      {/* It covers the area, so that the browser itself takes what is dropped there. */}
      <input
        {...control}
        type="file"
        required={name === undefined && !multiple}
        multiple={multiple}
        accept={accept}
        title=""
        className="absolute inset-0 cursor-pointer opacity-0"
        onChange={({ target }) => {
          onChoose([...(target.files ?? [])]);
          // Otherwise the same file could not be chosen again.
          if (multiple) target.value = "";
        }}
        onDragEnter={() => setOver(true)}
        onDragLeave={() => setOver(false)}
        onDrop={() => setOver(false)}
      />
    </div>
  );
}
