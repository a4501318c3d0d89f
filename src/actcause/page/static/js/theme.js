// Before anything is drawn: the theme that was chosen here last time.
try {
  const chosen = localStorage.getItem("actcause-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // no storage: the system's own preference holds
}
