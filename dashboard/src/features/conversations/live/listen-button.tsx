import { useEffect, useRef, useState } from "react";
import { Button, type ButtonProps } from "../../../ui/button.tsx";
import { tellFailure } from "../../../ui/overlay/toasts.tsx";
import { type Listening, listenTo } from "./listen.ts";

/** Plays a running call, until it is stopped, the call ends or the page is left. */
export function ListenButton({ conversationId, size }: Pick<ButtonProps, "size"> & { conversationId: string }) {
  const [state, setState] = useState<"off" | "connecting" | "on">("off");
  const listening = useRef<Listening | null>(null);
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
      listening.current?.stop();
      listening.current = null;
    };
  }, []);
  const begin = async () => {
    setState("connecting");
    try {
      const begun = await listenTo(conversationId, () => {
        listening.current = null;
        setState("off");
      });
      if (left.current) return begun.stop();
      listening.current = begun;
      setState("on");
    } catch (error) {
      setState("off");
      tellFailure(error);
    }
  };
  const stop = () => {
    listening.current?.stop();
    listening.current = null;
    setState("off");
  };
  if (state === "on")
    return (
      <Button size={size} onClick={stop} aria-label="Stop listening" title="You hear the call; nobody hears you">
        Listening · Stop
      </Button>
    );
  return (
    <Button size={size} busy={state === "connecting"} onClick={begin}>
      Listen
    </Button>
  );
}
