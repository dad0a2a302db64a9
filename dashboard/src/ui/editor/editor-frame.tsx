import { clsx } from "clsx";
import { type ReactNode, useEffect } from "react";
import { Badge } from "../badge.tsx";
import { Button } from "../button.tsx";
import { LeftWork } from "../form/left-work.tsx";
import { Refusable, Refusal } from "../form/refusal.tsx";
import { useSaveShortcut } from "../form/save-shortcut.ts";
import { UnsavedChanges } from "../form/unsaved-changes.tsx";
import { Notice } from "../states.tsx";
import type { FormDraft } from "./form-draft.ts";

interface Frame {
  draft: Omit<FormDraft<never>, "form" | "set">;
  /** What is edited, such as `tool`. */
  what: string;
  title: string;
  /** Replaces the title in the heading when that is more than text. */
  heading?: ReactNode;
  /** Of what is stored; null for what does not exist yet. */
  id: string | null;
  /** The link to where it is listed. */
  back: ReactNode;
  actions?: ReactNode;
  menu?: ReactNode;
}

/** The page of something that is edited in a form: a header that stays, what is in the way of saving, and the form. */
export function EditorFrame({ children, ...frame }: Frame & { children: ReactNode }) {
  const { draft, what, title, id } = frame;
  useSaveShortcut(draft.isSavable ? draft.save : null);
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  return (
    <>
      <Header {...frame} />
      <div data-form className="mx-auto flex max-w-4xl flex-col gap-6 px-4 pt-6 pb-16 sm:px-8">
        <Refusable>
          <LeftWork at={draft.offeredAt} onDecide={draft.decide} />
          {draft.isOutdated ? (
            <Notice tone="warning">
              <p>This {what} was changed in another tab or by someone else while you were editing.</p>
              <div className="mt-2 flex flex-wrap gap-2">
                <Button size="small" onClick={draft.keepMine}>
                  Keep my changes
                </Button>
                <Button size="small" onClick={draft.discard}>
                  Use theirs
                </Button>
              </div>
            </Notice>
          ) : (
            <Refusal error={draft.refusal} begins="Could not save: " />
          )}
          {children}
        </Refusable>
      </div>
      <UnsavedChanges
        isDirty={draft.isDirty}
        name={title}
        onSave={id !== null && draft.isSavable ? draft.save : undefined}
        onDiscard={draft.discard}
      />
    </>
  );
}

function Header({ draft: { isDirty, isSavable, isSaving, save, discard }, what, title, heading, id, ...frame }: Frame) {
  return (
    <header className="sticky top-0 z-20 border-b border-line bg-canvas/95 backdrop-blur max-lg:top-13">
      <div className="mx-auto flex max-w-4xl flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3 sm:px-8">
        {frame.back}
        <div className="min-w-0 flex-1 basis-40">
          <h1 className="flex items-center gap-2 text-lg leading-6 font-semibold tracking-tight">
            {heading ?? (
              <span dir="auto" className="truncate">
                {title}
              </span>
            )}
          </h1>
          {id && <p className="truncate font-mono text-xs text-muted select-all">{id}</p>}
        </div>
        <span role="status" className={clsx(!isDirty && "sr-only")}>
          {isDirty && id && <Badge tone="warning">Unsaved changes</Badge>}
        </span>
        <div className="flex flex-wrap items-center gap-2">
          {isDirty && (
            <Button variant="ghost" onClick={discard}>
              {id ? "Discard" : "Clear"}
            </Button>
          )}
          {frame.actions}
          <Button
            variant="primary"
            busy={isSaving}
            disabled={!isSavable}
            aria-keyshortcuts="Control+S Meta+S"
            title="Ctrl+S"
            onClick={save}
          >
            {id ? "Save" : `Create ${what}`}
          </Button>
          {frame.menu}
        </div>
      </div>
    </header>
  );
}

/** The class of a link back to where the edited thing is listed. */
export const BACK_LINK = "-ml-1 rounded-md p-1 text-muted hover:bg-hover active:opacity-80";
