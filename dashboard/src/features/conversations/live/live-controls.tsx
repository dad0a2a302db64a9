import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, patiently, type Schema } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Input } from "../../../ui/form/input.tsx";
import { Confirm } from "../../../ui/overlay/confirm.tsx";
import { tellFailure } from "../../../ui/overlay/toasts.tsx";
import { Time } from "../../../ui/time.tsx";
import { sessionsQuery } from "../../settings/settings.ts";
import type { Conversation } from "../queries.ts";
import { ListenButton } from "./listen-button.tsx";
import type { LiveState } from "./use-live.ts";

type Control = Schema["ControlConversationRequest"];

/** What a person can do with a conversation that runs. */
export function LiveControls({ conversation, state }: { conversation: Conversation; state: LiveState }) {
  const { conversation_id: conversationId, conversation_type } = conversation;
  const isText = conversation_type === "CHAT" || conversation_type === "WHATSAPP";
  const [text, setText] = useState("");
  const [to, setTo] = useState("");
  const [isEnding, setEnding] = useState(false);
  const client = useQueryClient();
  const control = useMutation({
    mutationFn: (body: Control) =>
      api.POST("/v1/public/conversations/{conversation_id}/control", {
        params: { path: { conversation_id: conversationId } },
        body,
        fetch: patiently,
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["conversation", conversationId] }),
    onError: tellFailure,
  });
  const own = useQuery(sessionsQuery).data?.find(({ is_current }) => is_current)?.session_id;
  const { taken_over: takenOver, muted } = state;
  const isOwn = takenOver !== null && takenOver.by.id === own;
  const act = (body: Control) => control.mutate(body);
  const say = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === "") return;
    act({ action: "say", text });
    setText("");
  };
  const transfer = (event: FormEvent) => {
    event.preventDefault();
    if (to.trim() !== "") act({ action: "transfer", to: to.trim() });
  };
  return (
    <>
      <div className="flex flex-col gap-4">
        <p role="status">
          {takenOver ? (
            <>
              {isOwn ? "You answer" : `Somebody else (${takenOver.by.type} ${takenOver.by.id}) answers`} in the agent's
              place since <Time at={takenOver.since} />.
            </>
          ) : muted ? (
            "The agent is muted."
          ) : (
            `The agent answers${state.agent ? `: it is ${state.agent}` : ""}.`
          )}
        </p>
        <form onSubmit={say} className="flex gap-2">
          <Input
            aria-label="Say as the agent"
            value={text}
            onChange={({ target }) => setText(target.value)}
            maxLength={4000}
          />
          <Button type="submit" variant="primary" busy={control.isPending}>
            Say
          </Button>
        </form>
        {!isText && (
          <form onSubmit={transfer} className="flex gap-2">
            <Input
              aria-label="Transfer to"
              placeholder="+14155550123"
              value={to}
              onChange={({ target }) => setTo(target.value)}
            />
            <Button type="submit" busy={control.isPending}>
              Transfer
            </Button>
          </form>
        )}
        <div className="flex flex-wrap gap-2">
          {!isText && <ListenButton conversationId={conversationId} />}
          {isText &&
            (takenOver ? (
              <Button busy={control.isPending} onClick={() => act({ action: "give_back" })}>
                Give back
              </Button>
            ) : (
              <Button busy={control.isPending} onClick={() => act({ action: "take_over" })}>
                Take over
              </Button>
            ))}
          <Button busy={control.isPending} onClick={() => act({ action: muted ? "unmute" : "mute" })}>
            {muted ? "Unmute" : "Mute"}
          </Button>
          <Button variant="danger" onClick={() => setEnding(true)}>
            End
          </Button>
        </div>
      </div>
      <Confirm
        open={isEnding}
        onClose={() => setEnding(false)}
        title="End this conversation?"
        action="End conversation"
        write={() => control.mutateAsync({ action: "end" })}
      >
        The {isText ? "chat is closed" : "call is hung up"} at once.
      </Confirm>
    </>
  );
}
