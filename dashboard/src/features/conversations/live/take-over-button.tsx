import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, ask, patiently } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { tellFailure } from "../../../ui/overlay/toasts.tsx";

/** Takes a running chat over, and opens it to answer there and to give it back. */
export function TakeOverButton({ conversationId }: { conversationId: string }) {
  const navigate = useNavigate();
  const takeOver = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/v1/public/conversations/{conversation_id}/control", {
          params: { path: { conversation_id: conversationId } },
          body: { action: "take_over" },
          fetch: patiently,
        }),
      ),
    onSuccess: () => navigate({ to: "/conversations/$conversationId", params: { conversationId }, search: {} }),
    onError: tellFailure,
  });
  return (
    <Button size="small" busy={takeOver.isPending} onClick={() => takeOver.mutate()}>
      Take over
    </Button>
  );
}
