"""The publications that the examples cite."""

# The source of a verdict that nobody published about this very model: what the definition's own words give.
COMPUTED = "computed from the definition's own words"

FAC = (
    "Chuck, Vaidyanathan, Giguere, Zhang, Jensen and Niekum, "
    "Automated Discovery of Functional Actual Causes in Complex Environments, arXiv preprint 2404.10883, 2024"
)
FAC_TABLES = f"{FAC}, results of Algorithm 0 (appendix)"
FAC_MORE = f"{FAC}, Additional Examples (appendix)"
BEEBEE = "Beebee, Causing and Nothingness, in Causation and Counterfactuals, MIT Press 2004"
CHOCKLER_HALPERN = (
    "Chockler and Halpern, Responsibility and Blame: A Structural-Model Approach, "
    "Journal of Artificial Intelligence Research 22, 2004"
)
GLYMOUR = "Glymour et al., Actual Causation: A Stone Soup Essay, Synthese 175, 2010"
HALL_2004 = "Hall, Two Concepts of Causation, in Causation and Counterfactuals, MIT Press 2004"
HALL_2007 = "Hall, Structural Equations and Causation, Philosophical Studies 132, 2007"
HALPERN_2008 = "Halpern, Defaults and Normality in Causal Structures, KR 2008"
HALPERN_2014 = "Halpern, Appropriate Causal Models and Stability of Causation, KR 2014"
HALPERN_2015 = "Halpern, A Modification of the Halpern-Pearl Definition of Causality, IJCAI 2015"
HALPERN_2016 = "Halpern, Actual Causality, MIT Press 2016"
HH_2010 = (
    "Halpern and Hitchcock, Actual Causation and the Art of Modeling, in Heuristics, Probability and Causality, 2010"
)
HH_2015 = "Halpern and Hitchcock, Graded Causation and Defaults, British Journal for the Philosophy of Science 66, 2015"
HIDDLESTON = "Hiddleston, Causal Powers, British Journal for the Philosophy of Science 56, 2005"
HITCHCOCK_2007 = (
    "Hitchcock, Prevention, Preemption, and the Principle of Sufficient Reason, Philosophical Review 116, 2007"
)
HITCHCOCK = (
    "Hitchcock, The Intransitivity of Causation Revealed in Equations and Graphs, Journal of Philosophy 98, 2001"
)
HOPKINS_PEARL = (
    "Hopkins and Pearl, Clarifying the Usage of Structural Models for Commonsense Causal Reasoning, "
    "AAAI Spring Symposium SS-03-05, 2003"
)
HP_2005 = (
    "Halpern and Pearl, Causes and Explanations: A Structural-Model Approach. Part I: Causes, "
    "British Journal for the Philosophy of Science 56, 2005"
)
KNOBE_FRASER = "Knobe and Fraser, Causal Judgment and Moral Judgment, in Moral Psychology 2, MIT Press 2008"
LEWIS = "Lewis, Causation as Influence, Journal of Philosophy 97, 2000"
LIVENGOOD = "Livengood, Actual Causation and Simple Voting Scenarios, Nous 47, 2013"
MCDERMOTT = "McDermott, Redundant Causation, British Journal for the Philosophy of Science 46, 1995"
NUREG_0492 = (
    "Vesely, Goldberg, Roberts and Haasl, Fault Tree Handbook, NUREG-0492, U.S. Nuclear Regulatory Commission 1981"
)
PEARL = "Pearl, Causality, Cambridge University Press 2000, Chapter 10"
ROSENBERG = "Rosenberg and Glymour, Review of Joseph Halpern, Actual Causality, BJPS Review of Books 2018"
SCHAFFER = "Schaffer, Trumping Preemption, Journal of Philosophy 97, 2000"
WESLAKE = "Weslake, A Partial Theory of Actual Causation, manuscript, 2015"
WRIGHT = "Wright, Causation in Tort Law, California Law Review 73, 1985"
