import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../../../api/client.ts";
import { fieldsOf, messageAt } from "../../../../api/problem.ts";
import { DialogForm } from "../../../../ui/form/dialog-form.tsx";
import { NumberField, SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { Dialog } from "../../../../ui/overlay/dialog.tsx";
import { type Filters, parametersOf } from "../../../conversations/filters.ts";
import { CHANNELS, type Channel, STATUSES, type Status } from "../../../conversations/names.tsx";
import { replayQuery, replaysQuery } from "../queries.ts";
import { LATEST, versionOf } from "../runs/chosen-version.ts";
import { CostCapFields, NO_CAP } from "../runs/cost-cap.tsx";
import { VersionField } from "../runs/version-field.tsx";

const MAX = 500;
const FEW = 20;
const ANY = "any";
const HELD_AS = [
  { value: "text", label: "Chats, calls too" },
  { value: "voice", label: "Calls" },
];

/** Asks which stored conversations to hold again, and with which version. */
export function ReplayDialog({ agentId, open, onClose }: { agentId: string; open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Replay conversations"
      description="The users of stored conversations say the same again to a version of the agent. Its tools answer what they answered then, so nothing outside is called."
    >
      <ReplayForm agentId={agentId} onClose={onClose} />
    </Dialog>
  );
}

/** YYYY-MM-DD in the viewer's zone, both inclusive. */
type Days = Pick<Filters, "from_date" | "to_date">;

function ReplayForm({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [version, setVersion] = useState(LATEST);
  const [max, setMax] = useState<number | null>(FEW);
  const [type, setType] = useState<Channel | typeof ANY>(ANY);
  const [status, setStatus] = useState<Status | typeof ANY>(ANY);
  const [days, setDays] = useState<Days>({});
  const [before, setBefore] = useState<number | null>(null);
  const [search, setSearch] = useState("");
  const [channel, setChannel] = useState<"text" | "voice">("text");
  const [cap, setCap] = useState(NO_CAP);
  const replay = useMutation({
    mutationFn: () => {
      const { from_date, to_date } = parametersOf(days) as Days;
      return api.POST("/v1/public/agents/{agent_id}/replays", {
        params: { path: { agent_id: agentId } },
        body: {
          agent_version: versionOf(version) ?? 0,
          conversations: {
            conversation_type: type === ANY ? null : type,
            conversation_status: status === ANY ? null : status,
            from: from_date ?? null,
            to: to_date ?? null,
            agent_version: before,
            search: search.trim() || null,
          },
          max: max ?? 0,
          channel,
          ...cap,
        },
      });
    },
    onSuccess: async (begun) => {
      client.setQueryData(replayQuery(agentId, begun.replay_id).queryKey, begun);
      void client.invalidateQueries({ queryKey: replaysQuery(agentId).queryKey });
      // Going back leads to before the dialog.
      const params = { agentId, replayId: begun.replay_id };
      await navigate({ to: "/agents/$agentId/replays/$replayId", params, replace: true });
    },
  });
  const fields = fieldsOf(replay.error);
  const errorAt = (path: string) => messageAt(fields, path);
  return (
    <DialogForm
      onSubmit={() => replay.mutate()}
      busy={replay.isPending}
      error={replay.error}
      action="Replay"
      onCancel={onClose}
    >
      <VersionField
        agentId={agentId}
        value={version}
        onChange={setVersion}
        error={errorAt("agent_version") ?? errorAt("version")}
      />
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <NumberField
          label="Conversations at most"
          hint="The newest that match."
          error={errorAt("max")}
          required
          min={1}
          max={MAX}
          value={max}
          onChange={setMax}
        />
        <SelectField
          label="Held again as"
          error={errorAt("channel")}
          value={channel}
          onChange={(next) => setChannel(next as typeof channel)}
          options={HELD_AS}
        />
        <SelectField
          label="Channel"
          error={errorAt("conversations.conversation_type")}
          value={type}
          onChange={(next) => setType(next as typeof type)}
          options={optionsOf(CHANNELS)}
        />
        <SelectField
          label="Status"
          error={errorAt("conversations.conversation_status")}
          value={status}
          onChange={(next) => setStatus(next as typeof status)}
          options={optionsOf(STATUSES)}
        />
        <TextField
          label="From"
          optional
          error={errorAt("conversations.from")}
          type="date"
          value={days.from_date ?? ""}
          onChange={({ target }) => setDays(dayed("from_date", target.value))}
        />
        <TextField
          label="To"
          optional
          error={errorAt("conversations.to")}
          type="date"
          value={days.to_date ?? ""}
          onChange={({ target }) => setDays(dayed("to_date", target.value))}
        />
        <NumberField
          label="Held with version"
          optional
          error={errorAt("conversations.agent_version")}
          min={1}
          placeholder="Any"
          value={before}
          onChange={setBefore}
        />
        <TextField
          label="Transcript contains"
          optional
          error={errorAt("conversations.search")}
          maxLength={200}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      </div>
      <CostCapFields value={cap} onChange={setCap} errorAt={errorAt} />
    </DialogForm>
  );
}

function optionsOf(named: Readonly<Record<string, { label: string }>>) {
  return [{ value: ANY, label: "Any" }, ...Object.entries(named).map(([value, { label }]) => ({ value, label }))];
}

/** With one of the days changed, or left out if it is empty. */
function dayed(name: keyof Days, day: string): (days: Days) => Days {
  return ({ [name]: _, ...days }) => (day === "" ? days : { ...days, [name]: day });
}
