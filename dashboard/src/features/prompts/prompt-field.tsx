import { type ComponentProps, lazy, Suspense, useState } from "react";
import type { PromptEditor as Editor } from "./prompt-editor.tsx";

const Loaded = lazy(() => import("./prompt-editor.tsx").then(({ PromptEditor }) => ({ default: PromptEditor })));

/** Edits a long text. Until the editor's script has come, which is the largest of all, the text can be read where it will be edited. */
export function PromptEditor(props: ComponentProps<typeof Editor>) {
  const [isPressed, setPressed] = useState(false);
  return (
    <Suspense
      fallback={
        // The look is the editor's, so that nothing moves.
        <div
          aria-busy
          onPointerDown={() => setPressed(true)}
          className="max-h-[60vh] min-h-[calc(10rem+2px)] cursor-text overflow-y-auto rounded-md border border-line-strong/60 bg-raised px-3.5 py-3 leading-[1.6] break-words whitespace-break-spaces"
        >
          {props.value}
        </div>
      }
    >
      <Loaded {...props} autoFocus={isPressed} />
    </Suspense>
  );
}
