// The theme, before the first paint: "light", "dark", or what the system says.
(() => {
  const theme = localStorage.getItem("wick.theme");
  if (theme) document.documentElement.dataset.theme = theme;
  if (localStorage.getItem("wick.sidebar") === "closed") document.documentElement.dataset.sidebar = "closed";
})();
