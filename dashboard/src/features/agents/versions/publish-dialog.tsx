import { type FormEvent, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { TextField } from "../../../ui/form/fields.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { tellDone } from "../../../ui/overlay/toasts.tsx";
import type { AgentDraft } from "../editor/draft.ts";
import { isOverridable, PublishRefusal } from "./override.tsx";
import { usePublish } from "./versions.ts";

type Published = Pick<AgentDraft, "agent" | "isDirty">;

/** How publishing a version is called: an older one than the published is rolled back to. */
export function publishWord({ published_version }: AgentDraft["agent"], version: number): "Publish" | "Roll back" {
  return published_version !== null && version < published_version ? "Roll back" : "Publish";
}

/** Asks before new conversations get another version. @param version null while it is closed */
export function PublishDialog({
  draft,
  version,
  onClose,
}: {
  draft: Published;
  version: number | null;
  onClose: () => void;
}) {
  const isBack = version !== null && publishWord(draft.agent, version) === "Roll back";
  return (
    <Dialog
      open={version !== null}
      onClose={onClose}
      title={isBack ? `Roll back to version ${version}?` : `Publish version ${version}?`}
      description="Conversations that begin from now on get this version. Those in progress keep theirs."
      size="small"
    >
      {version !== null && <PublishForm draft={draft} version={version} onClose={onClose} />}
    </Dialog>
  );
}

function PublishForm({ draft, version, onClose }: { draft: Published; version: number; onClose: () => void }) {
  const { agent, isDirty } = draft;
  const [note, setNote] = useState("");
  const [reason, setReason] = useState("");
  const word = publishWord(agent, version);
  const publish = usePublish(agent.id, () => {
    tellDone(word === "Publish" ? `Version ${version} is published` : `Rolled back to version ${version}`);
    onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    publish.mutate({
      agentVersion: version,
      ...(note.trim() !== "" && { note }),
      ...(reason.trim() !== "" && { override: { reason } }),
    });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {version !== agent.latest_version && agent.publishing === "auto" && (
        <p>
          It is not the newest version, so publishing becomes manual: what you save from now on waits until you publish
          it.
        </p>
      )}
      {isDirty && version === agent.latest_version && <p>Your unsaved changes are not part of it.</p>}
      <TextField
        label="Note"
        optional
        hint="Shown in the publish log."
        maxLength={500}
        value={note}
        onChange={({ target }) => setNote(target.value)}
      />
      <PublishRefusal
        error={publish.error}
        agentId={agent.id}
        version={version}
        reason={reason}
        onReason={setReason}
        onLeave={onClose}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant={isOverridable(publish.error) ? "danger" : "primary"} busy={publish.isPending}>
          {isOverridable(publish.error) ? `${word} anyway` : word}
        </Button>
      </div>
    </form>
  );
}
