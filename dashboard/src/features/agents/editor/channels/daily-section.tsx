import { useMutation } from "@tanstack/react-query";
import { Video } from "lucide-react";
import { api } from "../../../../api/client.ts";
import { sentenceOf } from "../../../../api/problem.ts";
import { Button } from "../../../../ui/button.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { Notice } from "../../../../ui/states.tsx";
import { Time } from "../../../../ui/time.tsx";
import type { AgentDraft } from "../draft.ts";
import { Snippet } from "./snippet.tsx";

/** Opens a Daily room that the agent joins as soon as somebody is in it. */
export function DailySection({ draft: { agent, isDirty } }: { draft: AgentDraft }) {
  const open = useMutation({
    mutationFn: () => api.POST("/v1/public/daily/sessions", { body: { agent_id: agent.id } }),
  });
  const room = open.data;
  return (
    <Section
      title="Daily rooms"
      description="Meet the saved agent in a video room. Your own server does the same through the API."
      actions={
        <Button size="small" busy={open.isPending} onClick={() => open.mutate()}>
          <Video aria-hidden /> Start a session
        </Button>
      }
    >
      {isDirty && <p className="text-muted">Unsaved changes do not reach a room.</p>}
      {open.error && <Notice tone="danger">{sentenceOf(open.error)}</Notice>}
      {room && (
        <>
          <p>
            <a
              href={`${room.room_url}?t=${encodeURIComponent(room.token)}`}
              target="_blank"
              rel="noopener noreferrer"
              className="text-accent-ink underline"
            >
              Join the room<span className="sr-only"> (opens in a new tab)</span>
            </a>{" "}
            <span className="text-muted">
              It closes <Time at={room.expires_at} relative />.
            </span>
          </p>
          <Snippet text={`${room.room_url}?t=${room.token}`} what="link for one person" />
        </>
      )}
    </Section>
  );
}
