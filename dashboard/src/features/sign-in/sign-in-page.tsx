import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { api } from "../../api/client.ts";
import { Problem, sentenceOf } from "../../api/problem.ts";
import { meQuery } from "../../api/session.ts";
import { Logo } from "../../app/logo.tsx";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { Notice } from "../../ui/states.tsx";
import { useCountdown } from "./countdown.ts";

/** Email and password. After signing in, the page that the visitor wanted opens. */
export function SignInPage() {
  const { next, ended = false } = useSearch({ from: "/sign-in" });
  const router = useRouter();
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [secondsLeft, wait] = useCountdown();
  const signIn = useMutation({
    mutationFn: () => api.POST("/v1/manage/sign-in", { body: { email, password } }),
    onSuccess: (owner) => {
      client.clear();
      client.setQueryData(meQuery.queryKey, owner);
      // Going back must not lead here again.
      router.history.replace(next ?? "/");
    },
    onError: (error) => {
      if (error instanceof Problem && error.status === 429) wait(error.retryAfterSeconds || 60);
    },
  });
  useEffect(() => {
    document.title = "Sign in · Parley";
  }, []);
  const isElsewhere = useSignedInElsewhere() && signIn.status !== "pending" && signIn.status !== "success";
  useEffect(() => {
    if (isElsewhere) router.history.replace(next ?? "/");
  }, [isElsewhere, router, next]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center bg-surface px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex justify-center">
          <Logo />
        </div>
        <div className="rounded-xl border border-line bg-raised p-6 shadow-sm sm:p-8">
          <h1 className="mb-6 text-lg font-semibold tracking-tight">Sign in to your account</h1>
          {!globalThis.isSecureContext && (
            <div className="mb-5">
              <Notice tone="warning">
                This page was opened without HTTPS, so your browser does not keep you signed in. Open it with an address
                that starts with https://, or on the server itself at http://localhost.
              </Notice>
            </div>
          )}
          {ended && (
            <div className="mb-5">
              <Notice>Your session has ended. Sign in again to continue.</Notice>
            </div>
          )}
          <form onSubmit={submit} className="flex flex-col gap-4">
            <TextField
              label="Email"
              type="email"
              autoComplete="username"
              required
              autoFocus
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
            <TextField
              label="Password"
              type="password"
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
            {secondsLeft > 0 ? (
              <Notice tone="warning">
                Too many attempts. You can try again in <span className="tabular-nums">{secondsLeft}</span>{" "}
                {secondsLeft === 1 ? "second" : "seconds"}.
              </Notice>
            ) : (
              signIn.error && <Notice tone="danger">{refusalOf(signIn.error)}</Notice>
            )}
            <Button type="submit" variant="primary" busy={signIn.isPending} disabled={secondsLeft > 0}>
              Sign in
            </Button>
          </form>
        </div>
        <p className="mt-5 text-center text-[0.8125rem] text-balance text-muted">
          No password yet, or forgot it? Ask the server's operator for one.
        </p>
      </div>
    </main>
  );
}

/** Whether an answer says so that came after this page was opened: another tab has signed in, or the first answer was late. */
function useSignedInElsewhere(): boolean {
  const { dataUpdatedAt } = useQuery({ ...meQuery, refetchOnMount: false, retry: false, retryOnMount: false });
  const [openedAt] = useState(dataUpdatedAt);
  return dataUpdatedAt > openedAt;
}

/** Does not say which of the two was wrong. */
function refusalOf(error: Error): string {
  if (error instanceof Problem && error.status === 429) return "You can try again now.";
  return sentenceOf(error);
}
