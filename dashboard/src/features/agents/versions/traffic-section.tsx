import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { TextField } from "../../../ui/form/fields.tsx";
import { Section } from "../../../ui/form/section.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { tellDone } from "../../../ui/overlay/toasts.tsx";
import { ErrorState, Skeleton } from "../../../ui/states.tsx";
import type { Agent } from "../agents.ts";
import { isOverridable, PublishRefusal } from "./override.tsx";
import { reweighted, SHARES_MAX, type Share, weightMax, withoutVersion, withVersion } from "./shares.ts";
import { trafficQuery, useSetTraffic, versionNumbers } from "./versions.ts";

/** The share in percent that a version begins with. */
const FIRST_WEIGHT = 10;

/** Which versions new conversations get, and the form that splits them. */
export function TrafficSection({ agent }: { agent: Agent }) {
  const traffic = useQuery(trafficQuery(agent.id));
  const [edited, setEdited] = useState<readonly Share[] | null>(null);
  const stored = traffic.data ?? [];
  const next = versionNumbers(agent).find((each) => !stored.some(({ agent_version }) => agent_version === each));
  const begin = () =>
    setEdited(stored.length > 1 || next === undefined ? stored : withVersion(stored, next, FIRST_WEIGHT));
  const canSplit = stored.length > 0 && (stored.length > 1 || next !== undefined);
  return (
    <Section
      title="Traffic"
      description={
        stored.length > 1
          ? "New conversations are split between these versions. A caller stays with one. Publishing a version ends the split."
          : "Try a version with part of your callers before all get it. A caller stays with one version."
      }
      actions={
        edited === null &&
        canSplit && <Button onClick={begin}>{stored.length > 1 ? "Change the split" : "Split traffic"}</Button>
      }
    >
      {traffic.isPending ? (
        <Skeleton className="h-6 w-64" />
      ) : traffic.isLoadingError ? (
        <ErrorState error={traffic.error} onRetry={traffic.refetch} />
      ) : edited === null ? (
        <Split split={stored} />
      ) : (
        <SplitForm agent={agent} split={edited} onChange={setEdited} onClose={() => setEdited(null)} />
      )}
    </Section>
  );
}

function Split({ split }: { split: readonly Share[] }) {
  if (split.length === 0)
    return <p className="text-muted">No version is published, so the agent takes no conversations yet.</p>;
  if (split.length === 1) return <p>All new conversations get version {split[0]?.agent_version}.</p>;
  return (
    <ul className="flex flex-col gap-2">
      {split.map(({ agent_version, weight }) => (
        <li key={agent_version} className="grid grid-cols-[6rem_1fr_3rem] items-center gap-3">
          <span>Version {agent_version}</span>
          <span className="h-2 overflow-hidden rounded-full bg-hover" aria-hidden>
            <span className="block h-full rounded-full bg-accent" style={{ width: `${weight}%` }} />
          </span>
          <span className="text-right tabular-nums">{weight}%</span>
        </li>
      ))}
    </ul>
  );
}

function SplitForm({
  agent,
  split,
  onChange,
  onClose,
}: {
  agent: Agent;
  split: readonly Share[];
  onChange: (split: readonly Share[]) => void;
  onClose: () => void;
}) {
  const [note, setNote] = useState("");
  const [reason, setReason] = useState("");
  const save = useSetTraffic(agent.id, () => {
    tellDone("Traffic is split");
    onClose();
  });
  const change = (changed: readonly Share[]) => {
    save.reset();
    setReason("");
    onChange(changed);
  };
  const used = split.map(({ agent_version }) => agent_version);
  const free = versionNumbers(agent).filter((version) => !used.includes(version));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({
      split: [...split],
      ...(note.trim() !== "" && { note }),
      ...(reason.trim() !== "" && { override: { reason } }),
    });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-5">
      <div className="flex flex-col gap-4">
        {split.map(({ agent_version, weight }, at) => (
          <div
            key={at}
            className="grid grid-cols-[8.5rem_1fr_auto] items-center gap-x-3 gap-y-2 max-sm:grid-cols-[1fr_auto]"
          >
            <Select
              quiet
              aria-label={`Version ${at + 1} of the split`}
              value={String(agent_version)}
              onChange={(value) => change(split.with(at, { agent_version: Number(value), weight }))}
              options={versionNumbers(agent, used)
                .filter((version) => version === agent_version || !used.includes(version))
                .map((version) => ({ value: String(version), label: `Version ${version}` }))}
            />
            <span className="flex items-center gap-3 max-sm:order-last max-sm:col-span-2">
              <input
                type="range"
                aria-label={`Share of version ${agent_version}`}
                aria-valuetext={`${weight}%`}
                min={1}
                max={weightMax(split.length)}
                value={weight}
                onChange={({ target }) => change(reweighted(split, agent_version, target.valueAsNumber))}
                className="h-5 min-w-0 flex-1 accent-(--accent)"
              />
              <output className="w-12 text-right tabular-nums">{weight}%</output>
            </span>
            <Button
              variant="ghost"
              size="icon"
              aria-label={`Remove version ${agent_version}`}
              disabled={split.length <= 2}
              onClick={() => change(withoutVersion(split, agent_version))}
            >
              <X aria-hidden />
            </Button>
          </div>
        ))}
        <Button
          size="small"
          className="self-start"
          disabled={split.length >= SHARES_MAX || free.length === 0}
          onClick={() => change(withVersion(split, free[0] ?? 0, FIRST_WEIGHT))}
        >
          <Plus aria-hidden /> Add version
        </Button>
      </div>
      <TextField
        label="Note"
        optional
        hint="Shown in the publish log."
        maxLength={500}
        value={note}
        onChange={({ target }) => setNote(target.value)}
      />
      {agent.publishing === "auto" && (
        <p className="text-muted">
          A split makes publishing manual: what you save from now on waits until you publish it.
        </p>
      )}
      <PublishRefusal
        error={save.error}
        agentId={agent.id}
        version={Math.max(...used)}
        reason={reason}
        onReason={setReason}
        onLeave={onClose}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant={isOverridable(save.error) ? "danger" : "primary"} busy={save.isPending}>
          {isOverridable(save.error) ? "Save split anyway" : "Save split"}
        </Button>
      </div>
    </form>
  );
}
