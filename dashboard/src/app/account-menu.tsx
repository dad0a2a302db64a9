import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BookOpen, Check, ChevronsUpDown, LogOut } from "lucide-react";
import { api } from "../api/client.ts";
import { meQuery } from "../api/session.ts";
import { forgetKeptWork } from "../ui/form/kept-work.ts";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../ui/overlay/menu.tsx";
import { tellFailure } from "../ui/overlay/toasts.tsx";
import { THEMES, type Theme } from "./stored-theme.ts";
import { useTheme } from "./theme.ts";

/** Shows who is signed in; its menu has the theme, the documentation and signing out. */
export function AccountMenu() {
  const { data: me } = useSuspenseQuery(meQuery);
  const [theme, setTheme] = useTheme();
  const client = useQueryClient();
  const navigate = useNavigate();
  const signOut = useMutation({
    mutationFn: () => api.POST("/v1/manage/sign-out"),
    onSuccess: async () => {
      forgetKeptWork();
      await navigate({ to: "/sign-in" });
      client.clear();
    },
    onError: tellFailure,
  });
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex w-full items-center gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-hover"
        >
          <span
            aria-hidden
            className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent-ink uppercase"
          >
            {[...me.name][0]}
          </span>
          <span className="min-w-0 flex-1">
            <span className="block truncate text-[0.8125rem] font-medium">{me.name}</span>
            <span className="block truncate text-xs text-muted">{me.email}</span>
          </span>
          <ChevronsUpDown className="size-4 text-muted" aria-hidden />
        </button>
      }
    >
      <MenuLabel>Theme</MenuLabel>
      {Object.entries(THEMES).map(([value, label]) => (
        <MenuItem key={value} onSelect={() => setTheme(value as Theme)}>
          {theme === value ? <Check aria-label="Selected" /> : <span className="size-4" />}
          {label}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem onSelect={() => window.open("/docs", "_blank", "noopener")}>
        <BookOpen aria-hidden /> API reference
      </MenuItem>
      <MenuItem onSelect={() => signOut.mutate()}>
        <LogOut aria-hidden /> Sign out
      </MenuItem>
    </Menu>
  );
}
