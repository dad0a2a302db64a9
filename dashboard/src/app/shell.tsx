import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { Menu as MenuIcon, Search } from "lucide-react";
import { Suspense, useEffect, useLayoutEffect, useRef, useState } from "react";
import { meQuery } from "../api/session.ts";
import { OpenCount, OpenDot } from "../features/alerts/open-alerts.tsx";
import { Button } from "../ui/button.tsx";
import { deferredScript, useBeginning } from "../ui/deferred.tsx";
import { overlays } from "../ui/overlay/overlays.ts";
import { followedAfterPaint } from "../ui/painted.ts";
import { AccountMenu } from "./account-menu.tsx";
import { Logo } from "./logo.tsx";
import { NAVIGATION } from "./navigation.ts";
import { StaleNotice } from "./stale-notice.tsx";
import { createTypedEarly } from "./typed-early.ts";

const palette = deferredScript(() => import("./command-palette.tsx"));
const CommandPalette = palette.component((script) => script.CommandPalette);
const Drawer = overlays.component(({ OpenedDrawer }) => OpenedDrawer);

/** The frame of every page of a signed-in owner: navigation, account, command palette. */
export function Shell() {
  const [paletteOpen, setPaletteOpen] = useState(false);
  const [everOpened, setEverOpened] = useState(false);
  const [typed] = useState(() => createTypedEarly(globalThis));
  useOneOwner();
  // Every page has something that opens: the account menu, if nothing else.
  useBeginning(overlays.fetch);
  const openPalette = () => {
    setEverOpened(true);
    setPaletteOpen(true);
  };
  // Before the next key is pressed: the palette's script may have to load first.
  useLayoutEffect(() => (paletteOpen ? typed.begin() : undefined), [paletteOpen, typed]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setEverOpened(true);
      setPaletteOpen((open) => !open);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div className="flex min-h-dvh max-lg:flex-col">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50 focus:rounded-md focus:bg-accent focus:px-3 focus:py-2 focus:text-on-accent"
      >
        Skip to content
      </a>
      <aside className="sticky top-0 flex h-dvh w-58 shrink-0 flex-col border-r border-line bg-surface max-lg:hidden">
        <Sidebar onSearch={openPalette} />
      </aside>
      <MobileBar onSearch={openPalette} />
      <main id="content" tabIndex={-1} className="min-w-0 flex-1 outline-none">
        <StaleNotice />
        <Outlet />
      </main>
      {everOpened && (
        <Suspense fallback={null}>
          <CommandPalette open={paletteOpen} onClose={() => setPaletteOpen(false)} typed={typed} />
        </Suspense>
      )}
    </div>
  );
}

/** A page shows one owner: when another tab signs in as somebody else, the page is loaded again as theirs. */
function useOneOwner(): void {
  const ownerId = useQuery(meQuery).data?.owner_id;
  const shown = useRef(ownerId);
  useEffect(() => {
    if (shown.current !== undefined && ownerId !== undefined && ownerId !== shown.current) location.reload();
    shown.current = ownerId;
  }, [ownerId]);
}

function Sidebar({ onSearch }: { onSearch: () => void }) {
  const navigate = useNavigate();
  return (
    <>
      <div className="px-4 pt-4 pb-3">
        <Logo />
      </div>
      <div className="px-3 pb-2">
        <button
          type="button"
          onClick={onSearch}
          className="flex h-8 w-full items-center gap-2 rounded-md border border-line bg-raised px-2.5 text-[0.8125rem] text-muted hover:border-line-strong"
        >
          <Search className="size-3.5 shrink-0" aria-hidden />
          <span className="truncate">Search or jump to…</span>
          <kbd className="ml-auto font-sans whitespace-nowrap text-[0.6875rem]">{isMac() ? "⌘K" : "Ctrl K"}</kbd>
        </button>
      </div>
      <nav aria-label="Main" className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-3 py-2">
        {NAVIGATION.map(({ label, destinations }) => (
          <div key={label ?? ""}>
            {label && <p className="px-2.5 pb-1 text-[0.6875rem] font-medium tracking-wide text-muted">{label}</p>}
            <ul className="flex flex-col gap-px">
              {destinations.map(({ to, label: name, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    activeOptions={{ exact: to === "/", includeSearch: false }}
                    onClick={followedAfterPaint(() => navigate({ to }))}
                    className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-muted hover:bg-hover hover:text-ink active:opacity-80 data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink"
                  >
                    <Icon className="size-4" aria-hidden />
                    {name}
                    {to === "/alerts" && <OpenCount />}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="border-t border-line p-2">
        <AccountMenu />
      </div>
    </>
  );
}

/** On narrow screens the navigation opens over the page. */
function MobileBar({ onSearch }: { onSearch: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [wasOpen, setWasOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setOpen(false), [path]);
  return (
    <header className="sticky top-0 z-30 flex h-13 items-center gap-2 border-b border-line bg-surface px-3 lg:hidden">
      <Button
        variant="ghost"
        size="icon"
        aria-label="Open navigation"
        aria-haspopup="dialog"
        className="relative"
        onClick={() => {
          setWasOpen(true);
          setOpen(true);
        }}
      >
        <MenuIcon aria-hidden />
        <OpenDot />
      </Button>
      {wasOpen && (
        <Suspense fallback={null}>
          <Drawer title="Navigation" open={isOpen} onClose={() => setOpen(false)}>
            <Sidebar
              onSearch={() => {
                setOpen(false);
                onSearch();
              }}
            />
          </Drawer>
        </Suspense>
      )}
      <Logo />
      <Button variant="ghost" size="icon" aria-label="Search" className="ml-auto" onClick={onSearch}>
        <Search aria-hidden />
      </Button>
    </header>
  );
}

function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
