import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Schema } from "../../api/client.ts";
import { sentenceOf } from "../../api/problem.ts";
import { SelectField } from "../../ui/form/fields.tsx";
import { Notice } from "../../ui/states.tsx";
import { AgentField } from "../agents/agent-field.tsx";
import { agentNamesQuery, publishedAgentQuery } from "../agents/agents.ts";
import { numbersQuery } from "../numbers/queries.ts";

/** Who calls, and how: the fields that a call and a batch of calls share. */
export interface CallSetup {
  agentId: string;
  /** One of the owner's numbers; "default" for the agent's first. */
  from: string;
  voicemail: string;
}

export const DEFAULT = "default";
const NEW_CALL: CallSetup = { agentId: "", from: DEFAULT, voicemail: DEFAULT };

/** The fields as they are chosen; an owner's only agent is chosen from the start. */
export function useCallSetup(): [CallSetup, (setup: CallSetup) => void] {
  const [setup, setSetup] = useState(NEW_CALL);
  const agents = useQuery(agentNamesQuery).data?.byId;
  const [only = ""] = agents?.size === 1 ? agents.keys() : [];
  return [{ ...setup, agentId: setup.agentId || only }, setSetup];
}

const LEAVE_MESSAGE = "leave_message";
const VOICEMAIL = [
  { value: DEFAULT, label: "Talk to whoever answers" },
  { value: "hang_up", label: "Hang up" },
  { value: LEAVE_MESSAGE, label: "Leave the agent's message" },
];

/** @param children what follows the agent, such as its variables */
export function CallFields({
  setup,
  onChange,
  errors,
  children,
}: {
  setup: CallSetup;
  onChange: (setup: CallSetup) => void;
  errors: ReadonlyMap<string, string>;
  children?: ReactNode;
}) {
  const numbers = useQuery(numbersQuery).data;
  const { data: agent, error } = useQuery(publishedAgentQuery(setup.agentId));
  const ofAgent = agent?.published_mobile_number;
  const hasNone = ofAgent?.length === 0;
  return (
    <>
      <AgentField
        value={setup.agentId}
        onChange={(agentId) => onChange({ ...setup, agentId })}
        error={errors.get("agent_id") ?? (error ? sentenceOf(error) : undefined)}
      />
      {numbers?.length === 0 && (
        <Notice tone="warning">
          You have no phone number to call from.{" "}
          <Link to="/numbers" search={{}} className="underline">
            Add one
          </Link>{" "}
          first.
        </Notice>
      )}
      {children}
      <div className="grid gap-5 sm:grid-cols-2">
        <SelectField
          label="Call from"
          hint={hasNone ? "The agent has no number of its own." : undefined}
          error={errors.get("from_mobile_number")}
          required
          value={hasNone && setup.from === DEFAULT ? "" : setup.from}
          onChange={(from) => onChange({ ...setup, from })}
          placeholder="Choose a number…"
          options={[
            ...(hasNone ? [] : [{ value: DEFAULT, label: "The agent's first number" }]),
            ...(numbers ?? []).map(({ mobile_number }) => ({ value: mobile_number, label: mobile_number })),
          ]}
        />
        <SelectField
          label="If voicemail answers"
          error={errors.get("voicemail")}
          value={setup.voicemail}
          onChange={(voicemail) => onChange({ ...setup, voicemail })}
          options={VOICEMAIL}
        />
      </div>
      {agent && setup.voicemail === LEAVE_MESSAGE && !agent.call_settings.voicemail_message && (
        <Notice tone="warning">
          {agent.agent_name} has no voicemail message.{" "}
          <Link to="/agents/$agentId" params={{ agentId: agent.id }} search={{ tab: "channels" }} className="underline">
            Write one under Channels
          </Link>{" "}
          first.
        </Notice>
      )}
    </>
  );
}

/** Whether a call can be made with it: there is an agent, and a number to call from. */
export function useCanCall({ agentId }: CallSetup): boolean {
  return useQuery(numbersQuery).data?.length !== 0 && agentId !== "";
}

/** The same in the form of the API. */
export function setupBody({ agentId, from, voicemail }: CallSetup) {
  return {
    agent_id: agentId,
    ...(from !== DEFAULT && { from_mobile_number: from }),
    ...(voicemail !== DEFAULT && { voicemail: voicemail as NonNullable<Schema["CreateCallRequest"]["voicemail"]> }),
  };
}
