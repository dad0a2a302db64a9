import { useState } from "react";
import { Button } from "../../../../ui/button.tsx";
import { Copyable } from "../../../../ui/copy.tsx";
import { Checkbox } from "../../../../ui/form/checkbox.tsx";
import { FieldError } from "../../../../ui/form/field.tsx";
import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { Switch } from "../../../../ui/form/switch.tsx";
import { Notice } from "../../../../ui/states.tsx";
import { HeaderFields } from "../../../tools/editor/header-fields.tsx";
import type { AgentDraft } from "../draft.ts";
import { CHANNELS, type StartChannel, type StartWebhook } from "./channels.ts";
import { TryStart } from "./try-start.tsx";

const ALL = Object.keys(CHANNELS) as StartChannel[];
const FAILURES = [
  { value: "continue", label: "Begin without it" },
  { value: "reject", label: "Do not begin" },
];
const TIMEOUT_MS = 3_000;

/** The owner's server that is asked before a conversation begins. */
export function StartSection({ draft }: { draft: AgentDraft }) {
  const { agent, values, set } = draft;
  const webhook = values.start_webhook ?? null;
  const [isTrying, setTrying] = useState(false);
  const secret = agent.start_webhook?.secret ?? "";
  return (
    <Section
      title="Start webhook"
      description="Your server is asked once before a conversation begins, while a call still rings. It can add variables, change the greeting, choose another agent, or reject the conversation."
      actions={
        webhook && (
          <Button size="small" aria-expanded={isTrying} onClick={() => setTrying(!isTrying)}>
            Try
          </Button>
        )
      }
    >
      <Enabled isOn={webhook !== null} onChange={(on) => set({ start_webhook: on ? { url: "" } : null })} />
      {secret.startsWith("whsec_") && (
        <Notice tone="warning">
          <p>Copy the signing secret now. It is shown only once.</p>
          <Copyable text={secret} what="signing secret" />
        </Notice>
      )}
      {webhook && <Fields draft={draft} webhook={webhook} mask={secret} />}
      {webhook && isTrying && <TryStart draft={draft} webhook={webhook} />}
    </Section>
  );
}

function Enabled({ isOn, onChange }: { isOn: boolean; onChange: (on: boolean) => void }) {
  return (
    <div className="flex items-center gap-3">
      <Switch id="start-webhook" checked={isOn} onChange={onChange} />
      <label htmlFor="start-webhook">Ask my server</label>
    </div>
  );
}

function Fields({
  draft: { set, errorAt },
  webhook,
  mask,
}: {
  draft: AgentDraft;
  webhook: StartWebhook;
  mask: string;
}) {
  const change = (changed: Partial<StartWebhook>) => set({ start_webhook: { ...webhook, ...changed } });
  const at = (path: string) => errorAt(`start_webhook.${path}`);
  const rows = Object.entries(webhook.headers ?? {}).map(([name, value]) => ({ name, value }));
  return (
    <>
      <TextField
        label="URL"
        error={at("url") ?? errorAt("start_webhook")}
        type="url"
        inputMode="url"
        placeholder="https://crm.example.com/parley/start"
        value={webhook.url}
        onChange={(event) => change({ url: event.target.value })}
      />
      <HeaderFields
        rows={rows}
        onChange={(next) => change({ headers: Object.fromEntries(next.map(({ name, value }) => [name, value])) })}
        errorIn={(path) => at(path) ?? at(`${path}.secret`)}
      />
      <TextField
        label="Signing secret"
        optional
        hint="Every question is signed with it, as Standard Webhooks describes. Left empty, the agent keeps its secret, or gets a new one."
        error={at("secret")}
        autoComplete="off"
        spellCheck={false}
        placeholder={mask.startsWith("whsec_") ? "" : mask}
        value={webhook.secret ?? ""}
        onChange={({ target }) => {
          const { secret: _, ...others } = webhook;
          set({ start_webhook: target.value === "" ? others : { ...others, secret: target.value } });
        }}
      />
      <div className="grid gap-5 sm:grid-cols-2">
        <TextField
          label="Time limit in ms"
          hint="500 to 7,000"
          error={at("timeout_ms")}
          type="number"
          min={500}
          max={7_000}
          controlClass="tabular-nums"
          value={webhook.timeout_ms ?? TIMEOUT_MS}
          onChange={(event) => change({ timeout_ms: Number(event.target.value) })}
        />
        <SelectField
          label="Without a proper answer"
          error={at("on_failure")}
          value={webhook.on_failure ?? "continue"}
          onChange={(chosen) => change({ on_failure: chosen as "continue" | "reject" })}
          options={FAILURES}
        />
      </div>
      <Channels
        chosen={webhook.channels ?? null}
        onChange={(channels) => change({ channels })}
        error={at("channels")}
      />
    </>
  );
}

/** @param chosen null for all of them */
function Channels({
  chosen,
  onChange,
  error,
}: {
  chosen: readonly StartChannel[] | null;
  onChange: (channels: StartChannel[] | null) => void;
  error: string | undefined;
}) {
  const isOn = (channel: StartChannel) => chosen === null || chosen.includes(channel);
  const toggle = (channel: StartChannel, on: boolean) => {
    const next = ALL.filter((each) => (each === channel ? on : isOn(each)));
    onChange(next.length === ALL.length ? null : next);
  };
  return (
    <fieldset className="flex flex-col gap-2.5">
      <legend className="mb-2 font-medium">Asked about</legend>
      <div className="grid gap-2.5 sm:grid-cols-3">
        {ALL.map((channel) => (
          <Checkbox
            key={channel}
            checked={isOn(channel)}
            onChange={(on) => toggle(channel, on)}
            label={CHANNELS[channel]}
          />
        ))}
      </div>
      <FieldError>{error}</FieldError>
    </fieldset>
  );
}
