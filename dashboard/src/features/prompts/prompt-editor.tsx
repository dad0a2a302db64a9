import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef } from "react";
import { PLACEHOLDER } from "./variables.ts";

/** Edits a long text, with its variables highlighted. Tab leaves it, as it leaves every other field. */
export function PromptEditor({
  label,
  value,
  onChange,
  autoFocus = false,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Whether it takes the focus when it appears. */
  autoFocus?: boolean;
}) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const change = useRef(onChange);
  // A text set by the page is not a change by the user.
  change.current = (text) => text !== value && onChange(text);
  const initial = useRef({ label, value, autoFocus });
  // Before the paint: an empty editor would move what is below it up and down again.
  useLayoutEffect(() => {
    if (!parent.current) return;
    const created = new EditorView({
      parent: parent.current,
      state: EditorState.create({ doc: initial.current.value, extensions: extensions(initial.current.label, change) }),
    });
    view.current = created;
    if (initial.current.autoFocus) created.focus();
    return () => created.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={parent} />;
}

function extensions(label: string, change: { current: (value: string) => void }) {
  return [
    history(),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "true" }),
    EditorView.updateListener.of((update) => update.docChanged && change.current(update.state.doc.toString())),
    placeholders,
    LOOK,
  ];
}

const mark = Decoration.mark({ class: "cm-variable" });
const matcher = new MatchDecorator({ regexp: new RegExp(PLACEHOLDER), decoration: mark });
const placeholders = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = matcher.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = matcher.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const LOOK = EditorView.theme({
  "&": {
    border: "1px solid color-mix(in srgb, var(--line-strong) 60%, transparent)",
    borderRadius: "0.375rem",
    backgroundColor: "var(--raised)",
    fontSize: "0.875rem",
  },
  "&.cm-focused": { outline: "2px solid var(--accent-ink)", outlineOffset: "0" },
  ".cm-scroller": { fontFamily: "var(--font-sans)", lineHeight: "1.6", minHeight: "10rem", maxHeight: "60vh" },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 0.875rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-variable": {
    color: "var(--accent-ink)",
    backgroundColor: "var(--accent-soft)",
    borderRadius: "0.25rem",
    padding: "0.1em 0",
  },
  "&.cm-focused .cm-selectionBackground, ::selection": {
    backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)",
  },
});
