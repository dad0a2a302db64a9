import { Input } from "../../../ui/form/input.tsx";
import type { AgentDraft } from "../editor/draft.ts";

/** Says what the version is for that a save makes. */
export function VersionNote({ draft: { note, setNote, errorAt } }: { draft: AgentDraft }) {
  const error = errorAt("version_note");
  return (
    <Input
      aria-label="Version note"
      aria-invalid={error ? true : undefined}
      title={error ?? "Shown in the list of versions"}
      placeholder="What changes?"
      maxLength={500}
      value={note}
      onChange={({ target }) => setNote(target.value)}
      className="min-w-36 flex-1 basis-36 sm:max-w-60"
    />
  );
}
