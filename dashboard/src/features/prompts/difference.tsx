import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { wholeLines } from "./whole-lines.ts";

/** Two texts with the changes between them marked, side by side or in one. */
export function Difference({
  before,
  after,
  beforeLabel,
  afterLabel,
  layout,
}: {
  before: string;
  after: string;
  beforeLabel: string;
  afterLabel: string;
  layout: "split" | "inline";
}) {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!parent.current) return;
    const [from, to] = [wholeLines(before), wholeLines(after)];
    const view =
      layout === "split"
        ? new MergeView({
            parent: parent.current,
            a: { doc: from, extensions: shown(beforeLabel) },
            b: { doc: to, extensions: shown(afterLabel) },
            collapseUnchanged: COLLAPSED,
          })
        : new EditorView({
            parent: parent.current,
            doc: to,
            extensions: [
              ...shown(`${beforeLabel} to ${afterLabel}`),
              unifiedMergeView({ original: from, mergeControls: false, collapseUnchanged: COLLAPSED }),
            ],
          });
    return () => view.destroy();
  }, [before, after, beforeLabel, afterLabel, layout]);
  return (
    <div className="overflow-hidden rounded-xl border border-line">
      <div className="flex border-b border-line bg-surface text-xs font-medium text-muted">
        <span className="flex-1 px-4 py-2">{layout === "split" ? beforeLabel : `${beforeLabel} → ${afterLabel}`}</span>
        {layout === "split" && <span className="flex-1 px-4 py-2">{afterLabel}</span>}
      </div>
      <div ref={parent} />
    </div>
  );
}

/** Unchanged lines around a change that stay, and from how many on they are folded. */
const COLLAPSED = { margin: 3, minSize: 6 };

function shown(label: string): Extension[] {
  return [
    EditorView.lineWrapping,
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ "aria-label": label }),
    LOOK,
  ];
}

const LOOK = EditorView.theme({
  "&": { backgroundColor: "var(--raised)", fontSize: "0.8125rem" },
  ".cm-scroller": { fontFamily: "var(--font-sans)", lineHeight: "1.6" },
  ".cm-content": { padding: "0.5rem 0", color: "var(--ink)" },
  ".cm-line": { padding: "0 1rem" },
  ".cm-deletedChunk": { paddingLeft: "1rem" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--danger-soft)" },
  "&.cm-merge-b .cm-changedLine, .cm-changedLine": { backgroundColor: "var(--success-soft)" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": {
    background: "color-mix(in srgb, var(--danger-ink) 22%, transparent)",
  },
  "&.cm-merge-b .cm-changedText, .cm-changedText": {
    background: "color-mix(in srgb, var(--success-ink) 22%, transparent)",
  },
  // The gutter is light in either theme otherwise, as are its marks.
  ".cm-gutters": { backgroundColor: "transparent", border: "none" },
  "&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter": { background: "var(--danger-ink)" },
  "&.cm-merge-b .cm-changedLineGutter, .cm-changedLineGutter": { background: "var(--success-ink)" },
  "& .cm-collapsedLines": {
    background: "var(--hover)",
    color: "var(--muted)",
    padding: "0.25rem 1rem",
    // Fonts lack the default's glyph.
    "&:before, &:after": { content: '"···"' },
  },
});
