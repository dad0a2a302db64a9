import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { api, type Schema } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { Confirm } from "../../ui/overlay/confirm.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { AGENTS } from "../agents/agents.ts";
import { PROMPTS, type Version } from "./prompts.ts";

type Versions = Schema["PromptVersions"];

/** The labels of a version, which can be deleted, and a button to give it one or to move one here. */
export function VersionLabels({ prompt, version }: { prompt: Versions; version: Version }) {
  const [isSetting, setSetting] = useState(false);
  const [deleted, setDeleted] = useState<string | null>(null);
  return (
    <div className="flex flex-wrap items-center gap-2">
      {version.labels.map((label) => (
        <Badge key={label} tone="success">
          {label}
          <button type="button" aria-label={`Delete label ${label}`} onClick={() => setDeleted(label)}>
            <X aria-hidden />
          </button>
        </Badge>
      ))}
      <Button size="small" onClick={() => setSetting(true)}>
        <Plus aria-hidden /> Label
      </Button>
      <Dialog
        open={isSetting}
        onClose={() => setSetting(false)}
        title={`Label version ${version.prompt_version}`}
        size="small"
      >
        <SetLabel prompt={prompt} version={version} onClose={() => setSetting(false)} />
      </Dialog>
      <DeleteLabel prompt={prompt} label={deleted} onClose={() => setDeleted(null)} />
    </div>
  );
}

function SetLabel({ prompt, version, onClose }: { prompt: Versions; version: Version; onClose: () => void }) {
  const [label, setLabel] = useState("");
  const suggestions = useId();
  const name = prompt.prompt_name;
  const client = useQueryClient();
  const set = useMutation({
    mutationFn: () =>
      api.PUT("/v1/public/prompts/{prompt_name}/labels/{label}", {
        params: { path: { prompt_name: name, label } },
        body: { prompt_version: version.prompt_version },
      }),
    onSuccess: async () => {
      await readAgain(client);
      tellDone(`Version ${version.prompt_version} is ${label}`);
      onClose();
    },
  });
  const before = prompt.versions.find(({ labels }) => labels.includes(label));
  const others = prompt.versions.filter((each) => each !== version).flatMap(({ labels }) => labels);
  return (
    <DialogForm
      onSubmit={() => set.mutate()}
      busy={set.isPending}
      error={set.error}
      action={before && before !== version ? "Move label" : "Set label"}
      onCancel={onClose}
    >
      <TextField
        label="Label"
        hint={
          before && before !== version
            ? `Moves from version ${before.prompt_version}. ${followersOf(prompt, label)}`
            : "A name for this version, such as production, that agents can follow."
        }
        error={fieldsOf(set.error).get("label")}
        required
        maxLength={64}
        pattern="[A-Za-z0-9_\-]+"
        title="Letters, digits, hyphens and underscores"
        list={suggestions}
        value={label}
        onChange={(event) => {
          set.reset();
          setLabel(event.target.value);
        }}
      />
      <datalist id={suggestions}>
        {others.map((other) => (
          <option key={other} value={other} />
        ))}
      </datalist>
    </DialogForm>
  );
}

function DeleteLabel({ prompt, label, onClose }: { prompt: Versions; label: string | null; onClose: () => void }) {
  const client = useQueryClient();
  const params = { path: { prompt_name: prompt.prompt_name, label: label ?? "" } };
  const isFollowed = label !== null && namesOfFollowers(prompt, label).length > 0;
  return (
    <Confirm
      open={label !== null}
      onClose={onClose}
      title={`Delete label “${label}”?`}
      action="Delete label"
      write={() => api.DELETE("/v1/public/prompts/{prompt_name}/labels/{label}", { params })}
      done={`Deleted label ${label}`}
      then={() => readAgain(client)}
      impossible={isFollowed ? `${followersOf(prompt, label)} Give them another label or a version first.` : undefined}
    >
      The version stays, without this name.
    </Confirm>
  );
}

/** Agents that follow a changed label have another text. */
function readAgain(client: QueryClient): Promise<unknown> {
  return Promise.all([PROMPTS, AGENTS].map((queryKey) => client.invalidateQueries({ queryKey })));
}

function namesOfFollowers({ used_by = [] }: Versions, label: string): string[] {
  return used_by.filter(({ prompt_labels }) => prompt_labels.includes(label)).map(({ agent_name }) => agent_name);
}

/** A sentence about the agents that follow a label. */
function followersOf(prompt: Versions, label: string): string {
  const names = namesOfFollowers(prompt, label);
  if (names.length === 0) return "No agent follows it.";
  return `${new Intl.ListFormat("en").format(names)} ${names.length === 1 ? "follows" : "follow"} it.`;
}
