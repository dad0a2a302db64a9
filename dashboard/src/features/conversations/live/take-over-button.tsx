import { useMutation } from "@tanstack/react-query";
import { api, patiently } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { tellFailure } from "../../../ui/overlay/toasts.tsx";

/** Takes a running chat over. */
export function TakeOverButton({ conversationId, onTaken }: { conversationId: string; onTaken(): void }) {
  const takeOver = useMutation({
    mutationFn: () =>
      api.POST("/v1/public/conversations/{conversation_id}/control", {
        params: { path: { conversation_id: conversationId } },
        body: { action: "take_over" },
        fetch: patiently,
      }),
    onSuccess: onTaken,
    onError: tellFailure,
  });
  return (
    <Button size="small" busy={takeOver.isPending} onClick={() => takeOver.mutate()}>
      Take over
    </Button>
  );
}
